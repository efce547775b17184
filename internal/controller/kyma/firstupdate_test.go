// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestFirstUpdate checks that Observe sets the external name and the references together, so that they are written once, and that
// Update then creates the Manifests and reports.
func TestFirstUpdate(t *testing.T) {
	k, s, r := newKyma(v1alpha1.Module{Name: "a"}), &server{}, newRecorder()
	e := newExternal(s, r, nil, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0")})
	e.connector.firstUpdate = true
	o, err := e.Observe(t.Context(), k)
	if err != nil || !o.ResourceExists || o.ResourceUpToDate || meta.GetExternalName(k) != "k" || len(k.Spec.ResourceRefs) != 1 {
		t.Fatalf("Observe(...): %+v, %v, external name %q, references %v", o, err, meta.GetExternalName(k), k.Spec.ResourceRefs)
	}
	if _, err := e.Update(t.Context(), k); err != nil || !slices.Equal(s.writes, []string{"create k-a"}) {
		t.Errorf("Update(...): %v, writes %v", err, s.writes)
	}
	if k.Status.AtProvider.State != v1alpha1.StateProcessing || !slices.Equal(*r.reasons, []event.Reason{reasonEnabled}) {
		t.Errorf("Update(...): state %q, events %v", k.Status.AtProvider.State, *r.reasons)
	}
}

// TestInterruptedFirstUpdate checks what follows if the process ended between the first write and Update.
func TestInterruptedFirstUpdate(t *testing.T) {
	noUpdate := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete}
	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		modules  []v1alpha1.Module
		reported bool
		want     managed.ExternalObservation
	}{
		"Update": {
			reason: "Update finishes the first install.", modules: []v1alpha1.Module{{Name: "a"}}, policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll},
			want: managed.ExternalObservation{ResourceExists: true},
		},
		"NoUpdate": {reason: "Create does, if a user has since forbidden Update.", modules: []v1alpha1.Module{{Name: "a"}}, policies: noUpdate},
		"Later": {
			reason: "A module that is added later must not be installed by Create.", modules: []v1alpha1.Module{{Name: "a"}}, policies: noUpdate,
			reported: true, want: managed.ExternalObservation{ResourceExists: true},
		},
		"Empty": {
			reason: "Without modules, there is nothing to create.", policies: noUpdate,
			want: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma(tc.modules...)
			meta.SetExternalName(k, "k")
			k.Finalizers, k.Spec.ManagementPolicies = []string{managed.FinalizerName}, tc.policies
			if tc.reported {
				k.Status.ObservedGeneration = 1
			}
			e := newExternal(&server{}, newRecorder(), nil, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0")})
			e.connector.firstUpdate, e.connector.policies = true, true
			k.Spec.ResourceRefs = nil
			got, err := e.Observe(t.Context(), k)
			got.Diff = ""
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nObserve(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestTrackUsage checks that Manifests in a previous cluster get a usage before that of the Kyma changes.
func TestTrackUsage(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"})
	moved := installed(k, newTemplate("b", "regular", "1.0.0"), func(m *v1alpha1.Manifest) {
		m.Spec.ProviderConfigReference = m.Spec.ProviderConfigReference.DeepCopy()
		m.Spec.ProviderConfigReference.Name = "previous"
	})
	var got []string
	c := newConnector(&server{}, newRecorder(), nil, installed(k, newTemplate("a", "regular", "1.0.0")), moved)
	c.usage = resource.ModernTrackerFn(func(_ context.Context, mg resource.ModernManaged) error {
		got = append(got, mg.GetName())
		return nil
	})
	if _, err := c.Connect(t.Context(), k); err != nil || !slices.Equal(got, []string{"k-b", "k"}) {
		t.Errorf("Connect(...): %v, tracked %v", err, got)
	}
}

// TestFirstWrite checks that the first write of a reconcile causes no other reconcile, unless it contains a change by a user.
func TestFirstWrite(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(k *v1alpha1.Kyma)
		want   bool
	}{
		"Own": {"The reconcile that wrote it continues.", func(k *v1alpha1.Kyma) {
			meta.SetExternalName(k, "k")
			k.Generation, k.Spec.ResourceRefs = 2, []v1alpha1.ManifestReference{{Name: "k-a"}}
		}, true},
		"References": {"Someone changed the references.", func(k *v1alpha1.Kyma) {
			k.Generation, k.Spec.ResourceRefs = 2, []v1alpha1.ManifestReference{{Name: "x"}}
		}, false},
		"Edit": {"A user edited the spec.", func(k *v1alpha1.Kyma) {
			meta.SetExternalName(k, "k")
			k.Generation, k.Spec.ForProvider.Channel = 2, "fast"
		}, false},
		"Status": {"Others are not the concern of the predicate.", func(*v1alpha1.Kyma) {}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := newKyma(v1alpha1.Module{Name: "a"})
			is := was.DeepCopy()
			tc.change(is)
			if got := firstWrite().Update(ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tc.want {
				t.Errorf("\n%s\nUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
