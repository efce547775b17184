// SPDX-License-Identifier: Apache-2.0

package await

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
)

func TestReadiness(t *testing.T) {
	kyma := func(change func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
		k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "k", Generation: 3}}
		k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "a"}, {Name: "b"}}
		k.Status.AtProvider = v1alpha1.KymaObservation{
			State: v1alpha1.StateReady, Modules: []v1alpha1.ModuleStatus{{Name: "a", State: v1alpha1.StateReady}, {Name: "b", State: v1alpha1.StateReady}},
		}
		k.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess().WithObservedGeneration(3))
		change(k)
		return k
	}
	cases := map[string]struct {
		reason  string
		kyma    *v1alpha1.Kyma
		modules []string
		want    Result
	}{
		"Ready":     {"The Kyma and its modules are Ready.", kyma(func(*v1alpha1.Kyma) {}), nil, Result{Met: true}},
		"Empty":     {"A Kyma without modules is Ready.", kyma(func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules, k.Status.AtProvider.Modules = nil, nil }), nil, Result{Met: true}},
		"New":       {"A new Kyma has no status.", &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, nil, Result{Message: "the provider has not reconciled the current spec of the Kyma"}},
		"Old":       {"The status of an earlier spec does not count.", kyma(func(k *v1alpha1.Kyma) { k.Generation = 4 }), []string{"a"}, Result{Message: "the provider has not reconciled the current spec of the Kyma"}},
		"WasPaused": {"The provider has not reconciled it since the pause.", kyma(func(k *v1alpha1.Kyma) { k.SetConditions(xpv2.ReconcilePaused().WithObservedGeneration(3)) }), nil, Result{Message: "the provider has not reconciled the current spec of the Kyma"}},
		"Paused":    {"The provider does not reconcile it.", kyma(func(k *v1alpha1.Kyma) { k.Annotations = map[string]string{"crossplane.io/paused": "true"} }), nil, Result{Message: "the Kyma is paused by annotation crossplane.io/paused"}},
		"NotSynced": {"A Kyma that is not Synced is not Ready.", kyma(func(k *v1alpha1.Kyma) {
			k.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(3))
		}), nil, Result{Message: "no"}},
		"NotReady":   {"The condition Ready is required.", kyma(func(k *v1alpha1.Kyma) { k.SetConditions(xpv2.Unavailable()) }), nil, Result{Message: "not Ready"}},
		"Unreported": {"The status must list each enabled module.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules = k.Status.AtProvider.Modules[:1] }), nil, Result{Message: "b: " + catalog.Unseen}},
		"Other":      {"If modules are named, others do not count.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[1].State = v1alpha1.StateError }), []string{"a"}, Result{Met: true}},
		"Failed":     {"A module in state Error is reported as failed.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[1].State = v1alpha1.StateError }), []string{"b"}, Result{Failed: true, Message: "b: it is in state Error"}},
		"AllFailed": {"A Kyma in state Error is reported as failed.", kyma(func(k *v1alpha1.Kyma) {
			k.Status.AtProvider.State, k.Status.AtProvider.Message = v1alpha1.StateError, "b: no"
		}), nil, Result{Failed: true, Message: "b: no"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readiness(tc.kyma, tc.modules)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nreadiness(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRemoval(t *testing.T) {
	kyma := func(change func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
		k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
		k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "a"}}
		k.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(3))
		change(k)
		return k
	}
	left := func(message string) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) {
			k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "b", State: v1alpha1.StateDeleting, Message: message}}
		}
	}
	cases := map[string]struct {
		reason  string
		kyma    *v1alpha1.Kyma
		modules []string
		want    Result
	}{
		"Gone":    {"Neither the spec nor the status lists the module.", kyma(func(*v1alpha1.Kyma) {}), []string{"b"}, Result{Met: true}},
		"Enabled": {"A module that is still enabled is not removed.", kyma(func(*v1alpha1.Kyma) {}), []string{"b", "a"}, Result{Message: "a: still enabled"}},
		"Old": {
			"The status of an earlier spec does not count.", kyma(func(k *v1alpha1.Kyma) { k.Generation = 4 }), []string{"b"},
			Result{Message: "the provider has not reconciled the current spec of the Kyma"},
		},
		"Says":  {"The message of the provider is used.", kyma(left("waits for Samples")), []string{"b"}, Result{Message: "b: waits for Samples"}},
		"Quiet": {"Without a message, there is a default.", kyma(left("")), []string{"b"}, Result{Message: "b: removal in progress"}},
		"Other": {"Other modules do not count.", kyma(left("")), []string{"c"}, Result{Met: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, removal(tc.kyma, tc.modules)); diff != "" {
				t.Errorf("\n%s\nremoval(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
