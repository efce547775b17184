// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhookName is what Crossplane calls its webhook, and webhookPath is where it
// listens.
const (
	webhookName = "nousages.protection.crossplane.io"
	webhookPath = "/validate-no-usages"
)

// protect has the API server ask core's webhook, at a URL of this machine rather than by
// the name of a service, before it deletes what is in use. It returns the directory of the
// certificate that core needs for that.
func protect(ctx context.Context, s site, url string) (string, error) {
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
