// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestUpdate(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"})
	a, b, c := newTemplate("a", "regular", "1.0.0"), newTemplate("b", "regular", "2.0.0"), newTemplate("c", "regular", "1.0.0")
	boom := errors.New("boom")
	recreated := installed(k, a)
	recreated.UID = "another"
	type want struct {
		writes  []string
		reasons []event.Reason
		failed  bool
		states  []v1alpha1.State
	}
	cases := map[string]struct {
		reason   string
		children []*v1alpha1.Manifest
		server   server
		want     want
	}{
		"AllAtOnce": {
			reason: "All modules are installed in one pass.",
			want: want{
				writes: []string{"create k-a", "create k-b"}, reasons: []event.Reason{reasonEnabled},
				states: []v1alpha1.State{"Processing", "Processing"},
			},
		},
		"Mixed": {
			reason:   "A module is upgraded while another is removed.",
			children: []*v1alpha1.Manifest{installed(k, newTemplate("a", "regular", "0.1.0")), installed(k, b), installed(k, c)},
			server:   server{allowed: true},
			want: want{
				writes: []string{"apply k-a", "ask", "delete k-c"}, reasons: []event.Reason{reasonUpgraded, reasonRemoved},
				states: []v1alpha1.State{"Processing", "Ready", "Deleting"},
			},
		},
		"WithoutRight": {
			reason:   "Without the right to delete, the Manifest is released to the garbage collector.",
			children: []*v1alpha1.Manifest{installed(k, a), installed(k, b), installed(k, c)},
			want: want{
				writes: []string{"ask", "patch k-c"}, reasons: []event.Reason{reasonRemoved},
				states: []v1alpha1.State{"Ready", "Ready", "Deleting"},
			},
		},
		"Fails": {
			reason: "If one module fails, the others are still processed, and the error is returned.",
			server: server{fails: boom},
			want: want{
				writes: []string{"create k-a", "create k-b"}, failed: true, reasons: []event.Reason{reasonFailed, reasonFailed},
				states: []v1alpha1.State{"Error", "Error"},
			},
		},
		"CacheBehind": {
			reason: "The cache will soon show a Manifest that already exists.",
			server: server{fails: kerrors.NewInvalid(v1alpha1.ManifestGroupVersionKind.GroupKind(), "k-a", nil)},
			want:   want{writes: []string{"create k-a", "create k-b"}, states: []v1alpha1.State{"Processing", "Processing"}},
		},
		"Taken": {
			reason: "A Manifest of another owner that the cache does not have yet is a collision.",
			server: server{fails: kerrors.NewInvalid(v1alpha1.ManifestGroupVersionKind.GroupKind(), "k-a", nil), taken: installed(otherKyma(), a)},
			want: want{
				writes: []string{"create k-a", "create k-b"}, failed: true, reasons: []event.Reason{reasonFailed, reasonFailed},
				states: []v1alpha1.State{"Error", "Error"},
			},
		},
		"GoneMeanwhile": {
			reason:   "A Manifest that is being deleted is created again later.",
			children: []*v1alpha1.Manifest{installed(k, newTemplate("a", "regular", "0.1.0")), installed(k, b)},
			server:   server{fails: kerrors.NewConflict(schema.GroupResource{}, "k-a", boom), taken: recreated},
			want:     want{writes: []string{"apply k-a"}, states: []v1alpha1.State{"Processing", "Ready"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, s, r := k.DeepCopy(), &tc.server, newRecorder()
			steps := newPlanner(k, []v1alpha1.ModuleTemplate{a, b, c}, tc.children...).plan()
			// References to the Manifests are covered by another test.
			k.Spec.ResourceRefs = references(steps)
			_, err := newExternal(s, r, steps, nil, tc.children...).Update(t.Context(), k)
			got := want{writes: s.writes, reasons: *r.reasons, failed: err != nil}
			for _, m := range k.Status.AtProvider.Modules {
				got.states = append(got.states, m.State)
			}
			if len(got.reasons) == 0 {
				got.reasons = nil
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nUpdate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestObserveDeletion(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"})
	now := metav1.Now()
	k.DeletionTimestamp = &now
	child := installed(k, newTemplate("a", "regular", "1.0.0"))
	cases := map[string]struct {
		reason   string
		children []*v1alpha1.Manifest
		server   server
		exists   bool
		failed   bool
	}{
		"Left":   {reason: "A Manifest is left.", children: []*v1alpha1.Manifest{child}, exists: true},
		"Gone":   {reason: "No Manifest is left."},
		"Unseen": {reason: "The cache does not show it yet.", server: server{listed: []metav1.PartialObjectMetadata{{ObjectMeta: child.ObjectMeta}}}, exists: true},
		"Other":  {reason: "A Manifest of another owner does not count.", server: server{listed: []metav1.PartialObjectMetadata{{ObjectMeta: metaOf("x")}}}},
		"Error":  {reason: "The error is returned.", server: server{lists: errors.New("boom")}, failed: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := k.DeepCopy()
			o, err := newExternal(&tc.server, newRecorder(), nil, nil, tc.children...).Observe(t.Context(), k)
			if o.ResourceExists != tc.exists || (err != nil) != tc.failed {
				t.Errorf("\n%s\nObserve(...): want exists %t, failed %t; got %t, %v", tc.reason, tc.exists, tc.failed, o.ResourceExists, err)
			}
		})
	}
}

func TestRecordEvents(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"})
	meta.SetExternalName(k, "k")
	r := newRecorder()
	for range 3 {
		if _, err := newExternal(&server{}, r, nil, nil).Observe(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if want := []event.Reason{reasonFailed}; !slices.Equal(*r.reasons, want) {
		t.Errorf("Observe(...) three times: want events %v, got %v", want, *r.reasons)
	}
}

// TestRecordEventsInUpdate checks that the event about a module is not lost if another module changes in the same reconcile.
func TestRecordEventsInUpdate(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"})
	meta.SetExternalName(k, "k")
	old, fast := newTemplate("a", "regular", "1.0.0"), newTemplate("b", "fast", "2.0.0")
	children := []*v1alpha1.Manifest{installed(k, old), installed(k, fast)}
	templates := []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.1.0"), newTemplate("b", "regular", "1.0.0")}
	report(k, newPlanner(k, []v1alpha1.ModuleTemplate{old, fast}, children...).plan())
	r := newRecorder()
	e := newExternal(&server{}, r, nil, templates, children...)
	if o, err := e.Observe(t.Context(), k); err != nil || o.ResourceUpToDate {
		t.Fatalf("Observe(...): %v, %v", o, err)
	}
	if _, err := e.Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if want := []event.Reason{reasonUpgraded, reasonBlocked}; !slices.Equal(*r.reasons, want) {
		t.Errorf("Update(...): want events %v, got %v", want, *r.reasons)
	}
}

// TestReportedOnce checks which method reports: Update if the managed reconciler calls it, and otherwise Observe.
func TestReportedOnce(t *testing.T) {
	tpl := newTemplate("a", "regular", "1.0.0")
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		created  bool
		children []*v1alpha1.Manifest
		want     bool
	}{
		"UpToDate":  {reason: "Nothing has to be done.", created: true, children: []*v1alpha1.Manifest{installed(newKyma(), tpl)}, want: true},
		"Update":    {reason: "Update reports the changes.", created: true},
		"Forbidden": {reason: "Nothing is done.", created: true, policies: observe, want: true},
		"Missing":   {reason: "Nothing is created.", policies: observe, want: true},
		"Create":    {reason: "Create does not report.", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma(v1alpha1.Module{Name: "a"})
			if tc.policies != nil {
				k.Spec.ManagementPolicies = tc.policies
			}
			if tc.created {
				meta.SetExternalName(k, "k")
				k.Spec.ResourceRefs = []v1alpha1.ManifestReference{{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ManifestKind, Name: "k-a"}}
			}
			e := newExternal(&server{}, newRecorder(), nil, []v1alpha1.ModuleTemplate{tpl}, tc.children...)
			if _, err := e.Observe(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if got := k.Status.AtProvider.State != ""; got != tc.want {
				t.Errorf("\n%s\nObserve(...): want a report %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFailsAgain checks that a reconcile with the same result as the previous one does not change the status.
func TestFailsAgain(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"})
	meta.SetExternalName(k, "k")
	var first *v1alpha1.KymaStatus
	for range 2 {
		e := newExternal(&server{fails: errors.New("boom")}, newRecorder(), nil, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0")})
		if _, err := e.Observe(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Update(t.Context(), k); err == nil {
			t.Fatal("Update(...): want an error")
		}
		if first == nil {
			k.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
			first = k.Status.DeepCopy()
		}
	}
	// For cmp, conditions are equal regardless of their times.
	if !equality.Semantic.DeepEqual(first, &k.Status) {
		t.Errorf("Update(...) again: want %v, got %v", *first, k.Status)
	}
}

// TestShared checks that a response of the API server does not change the templates, which are shared with the cache.
func TestShared(t *testing.T) {
	raw := `{"apiVersion":"v1","kind":"Sample","metadata":{"name":"s"}}`
	tpl := newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) {
		t.Spec.Data = &runtime.RawExtension{Raw: []byte(raw)}
		t.Spec.Readiness = []v1alpha1.ReadinessRule{{CEL: "true", For: &v1alpha1.TypeSelector{APIVersion: "v1", Kind: "Sample"}}}
	})
	apply := func(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
		return json.Unmarshal([]byte(`{"apiVersion":"x/v1","kind":"X","spec":{"forProvider":{"resource":{"kind":"Other"},"readiness":[{"cel":"false","for":{"kind":"Other"}}]}}}`), o)
	}
	k, want := newKyma(v1alpha1.Module{Name: "a"}), tpl.DeepCopy()
	for _, children := range [][]*v1alpha1.Manifest{nil, {installed(k, newTemplate("a", "regular", "0.1.0"))}} {
		e := newExternal(&server{}, newRecorder(), newPlanner(k, []v1alpha1.ModuleTemplate{tpl}, children...).plan(), nil, children...)
		e.connector.store.client.(*test.MockClient).MockApply = apply
		if _, err := e.Update(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, tpl); diff != "" {
			t.Errorf("Update(...): the template must stay as it was: -want, +got:\n%s", diff)
		}
	}
}

func TestCreate(t *testing.T) {
	k, s := newKyma(v1alpha1.Module{Name: "a"}), &server{}
	e := newExternal(s, newRecorder(), newPlanner(k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0")}).plan(), nil)
	if _, err := e.Create(t.Context(), k); err != nil || meta.GetExternalName(k) != "k" || !slices.Equal(s.writes, []string{"create k-a"}) {
		t.Errorf("Create(...): %v, external name %q, %v", err, meta.GetExternalName(k), s.writes)
	}
}

func TestDelete(t *testing.T) {
	k, s := newKyma(v1alpha1.Module{Name: "a"}), &server{allowed: true}
	now := metav1.Now()
	k.DeletionTimestamp = &now
	a, b := installed(k, newTemplate("a", "regular", "1.0.0")), installed(k, newTemplate("b", "regular", "1.0.0"), deleted)
	e := newExternal(s, newRecorder(), nil, nil, a, b)
	if o, err := e.Observe(t.Context(), k); err != nil || !o.ResourceExists {
		t.Fatalf("Observe(...): %v, %v", o, err)
	}
	if _, err := e.Delete(t.Context(), k); err != nil || !slices.Equal(s.writes, []string{"ask", "delete k-a"}) {
		t.Errorf("Delete(...): want what is not on its way out to be deleted, got %v, %v", err, s.writes)
	}
}

// TestDeletePaused checks that a Manifest that its Kyma paused is resumed before it is deleted. Otherwise, it would never be
// deleted.
func TestDeletePaused(t *testing.T) {
	k, s := newKyma(), &server{allowed: true}
	a := installed(k, newTemplate("a", "regular", "1.0.0"), func(m *v1alpha1.Manifest) {
		meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"})
	})
	e := newExternal(s, newRecorder(), newPlanner(k, nil, a).plan(), nil, a)
	if err := e.execute(t.Context(), k); err != nil || !slices.Equal(s.writes, []string{"apply k-a", "ask", "delete k-a"}) {
		t.Errorf("execute(...): %v, %v", err, s.writes)
	}
	if got := s.patched[0].Annotations; len(got) != 0 {
		t.Errorf("execute(...): want no annotations, got %v", got)
	}
}
