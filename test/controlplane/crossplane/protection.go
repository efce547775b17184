// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhookName is the name of Crossplane's webhook, and webhookPath is its path.
const (
	webhookName = "nousages.protection.crossplane.io"
	webhookPath = "/validate-no-usages"
)

// protect registers core's webhook, which the API server calls before it deletes an object in use. Its configuration
// contains a local URL instead of the name of a service. protect returns the directory of the certificate that core
// requires for that.
func protect(ctx context.Context, s host, url string) (string, error) {
	dir := s.path("webhook")
	files, err := certify(ctx, s, dir)
	if err != nil {
		return "", err
	}
	policy, effects := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	all := []string{"*"}
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "crossplane-no-usages"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    webhookName,
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: files[caFile]},
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
	err = client.IgnoreAlreadyExists(s.client.Create(ctx, config))
	return dir, errors.Wrap(err, "cannot register the webhook")
}
