// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestAfterRolledBackModules checks that a version whose modules rolled back in their clusters fails, and that this says nothing about another one.
func TestAfterRolledBackModules(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"), newTemplate("1.2.0"),
		newKyma("a", "regular", canary), newKyma("b", "regular"))
	b.reconcile(t)
	b.release(t, "1.1.0")
	b.reconcile(t)
	rolledBack := func(s *v1alpha1.ModuleStatus) {
		s.Version, s.State, s.Reason, s.RolledBackFrom = "1.0.0", v1alpha1.StateWarning, string(v1alpha1.ReasonRolledBack), "1.1.0"
	}
	b.change(t, "a", func(k *v1alpha1.Kyma) { rolledBack(&k.Status.AtProvider.Modules[0]) })
	b.reconcile(t)
	m := b.get(t)
	if diff := cmp.Diff([]string{"regular 1.1.0 Failed canary"}, phases(m)); diff != "" {
		t.Fatalf("a module that was rolled back has failed\n-want, +got:\n%s", diff)
	}
	for _, version := range []string{"1.2.0", "1.0.0"} {
		b.release(t, version)
		b.reconcile(t)
		m = b.get(t)
		if diff := cmp.Diff([]string{"regular " + version + " Progressing canary"}, phases(m)); diff != "" {
			t.Errorf("another version begins\n-want, +got:\n%s", diff)
		}
	}
}

// TestReturned checks that a cluster that could not be reached until now has not failed because of the state that its Kyma reports from that time,
// even if the provider was not running then.
func TestReturned(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"), newKyma("a", "regular", canary))
	reachable := func(since time.Time) {
		c := &v1alpha1.ProviderConfig{}
		if err := b.client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: config}, c); err != nil {
			t.Fatal(err)
		}
		c.Status.Conditions = []xpv2.Condition{{Type: v1alpha1.TypeReachable, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: since}}}
		if err := b.client.Status().Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	b.release(t, "1.1.0")
	b.reconcile(t)
	b.report(t, "a", "1.1.0", v1alpha1.StateError)
	b.r.now = func() time.Time { return noon.Add(30 * time.Second) }
	reachable(noon.Add(29 * time.Second))
	b.reconcile(t)
	m := b.get(t)
	if diff := cmp.Diff([]string{"regular 1.1.0 Progressing canary"}, phases(m)); diff != "" {
		t.Errorf("it has just returned\n-want, +got:\n%s", diff)
	}
	b.r.now = func() time.Time { return noon.Add(time.Minute) }
	b.reconcile(t)
	m = b.get(t)
	if diff := cmp.Diff([]string{"regular 1.1.0 Failed canary"}, phases(m)); diff != "" {
		t.Errorf("it has not recovered since\n-want, +got:\n%s", diff)
	}
}
