// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhookName is what Crossplane calls its webhook, and webhookPath is where it
// listens.
const (
	webhookName = "nousages.protection.crossplane.io"
	webhookPath = "/validate-no-usages"
)

// protect returns the arguments and the environment with which core refuses to
// delete what is in use, providers of managed resources among them.
func (x *Crossplane) protect(ctx context.Context) (args, env []string, err error) {
	if !x.options.ProtectProviders {
		return nil, nil, nil
	}
	files, err := x.certify(ctx)
	if err != nil {
		return nil, nil, err
	}
	dir := x.path("webhook")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, errors.Wrap(err, "cannot make the folder of the webhook")
	}
	for file, data := range files {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			return nil, nil, errors.Wrap(err, "cannot write the certificate of the webhook")
		}
	}
	return []string{"--enable-provider-deletion-protection"}, []string{"ENABLE_WEBHOOKS=true", "TLS_SERVER_CERTS_DIR=" + dir}, nil
}

// registerWebhook has the API server ask core's webhook, at a port of this machine
// rather than by the name of a service.
func (x *Crossplane) registerWebhook(ctx context.Context, port string) error {
	if !x.options.ProtectProviders {
		return nil
	}
	files, err := x.certify(ctx)
	if err != nil {
		return err
	}
	url := "https://" + net.JoinHostPort("localhost", port) + webhookPath
	policy, effects := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	all := []string{"*"}
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "crossplane-no-usages"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    webhookName,
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: files["ca.crt"]},
			FailurePolicy:           &policy,
			SideEffects:             &effects,
			AdmissionReviewVersions: []string{"v1"},
			ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"crossplane.io/in-use": "true"}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
				Rule:       admissionregistrationv1.Rule{APIGroups: all, APIVersions: all, Resources: all},
			}},
		}},
	}
	if err := x.client.Create(ctx, config); err != nil && !kerrors.IsAlreadyExists(err) {
		return errors.Wrap(err, "cannot register the webhook")
	}
	return nil
}
