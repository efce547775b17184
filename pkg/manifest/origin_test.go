// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// origin returns the annotations of the inventory that identify its owner: its UID and its control plane.
func (b *bench) origin() string {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	a := b.s.objects[parentSecret].u().GetAnnotations()
	return a[object.AnnotationOwnerUID] + " " + a[object.AnnotationControlPlane]
}

// of returns a bundle of the same Manifest in another control plane.
func of(s *Bundle, uid string, controlPlane ...string) *Bundle {
	out := *s
	out.OwnerUID, out.ControlPlane = uid, controlPlane
	return &out
}

// TestOtherControlPlane checks that a Manifest with the same name in another control plane changes nothing, and that it takes
// over the installed objects once the other control plane is named as its predecessor, with a single write of the inventory and
// without pruning.
func TestOtherControlPlane(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	old := of(s, "1", "old-ns", "old-crd")
	b.reconcile(old)
	if diff := cmp.Diff("1 old-ns,old-crd", b.origin()); diff != "" {
		t.Fatalf("the inventory: -want, +got:\n%s", diff)
	}
	want := b.s.keys()
	b.restart()

	restored := of(bundleOf(install("web", tmplConfig)), "2", "new-ns")
	wantErr := "Secret kyma-system/team-a-web is the inventory of Manifest team-a/web in the control plane with UID old-ns, not of the one in the " +
		"control plane with UID new-ns; delete the one that you do not need, or, if this control plane replaces the other one, add to Bundle.Predecessors the UID old-ns"
	b.s.took()
	_, observed := b.Observe(t.Context(), b.c, restored)
	_, applied := b.Apply(t.Context(), b.c, restored)
	_, exists := b.Exists(t.Context(), b.c, restored)
	_, removed := b.Remove(t.Context(), b.c, restored)
	for call, err := range map[string]error{"Observe": observed, "Apply": applied, "Exists": exists, "Remove": removed} {
		if e := (*OwnedError)(nil); !errors.As(err, &e) || err.Error() != wantErr {
			t.Errorf("%s(...): want error %q, got %v", call, wantErr, err)
		}
	}
	for _, r := range b.s.took() {
		if !strings.HasPrefix(r, "get") {
			t.Errorf("request %q", r)
		}
	}

	restored = of(s, "2", "new-ns")
	restored.Predecessors = []string{"older", "old-crd"}
	if o := b.observe(restored); o.UpToDate || o.State != Ready {
		t.Errorf("what is not taken over yet is not up to date: %+v", o)
	}
	b.s.took()
	r, err := b.Apply(t.Context(), b.c, restored)
	if err != nil || len(r.Pruned) > 0 || r.Created+r.Updated > 0 {
		t.Errorf("Apply(...): want nothing but the inventory, got %+v, %v", r, err)
	}
	for _, r := range b.s.took() {
		if !strings.HasPrefix(r, "get") && !strings.Contains(r, "Secret kyma-system/team-a-web") {
			t.Errorf("request %q", r)
		}
	}
	if diff := cmp.Diff("2 new-ns", b.origin()); diff != "" {
		t.Errorf("the inventory: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, b.s.keys()); diff != "" {
		t.Errorf("what is there: -want, +got:\n%s", diff)
	}
	restored.Predecessors = nil
	if o := b.observe(restored); !o.UpToDate || o.State != Ready {
		t.Errorf("the other control plane need not be named any more: %+v", o)
	}
	if _, err := b.Apply(t.Context(), b.c, old); err == nil {
		t.Error("the former control plane must be refused")
	}
	b.takeAll(restored)
}

// TestOriginIsRecorded checks in which cases a change of the owner causes a write of the inventory.
func TestOriginIsRecorded(t *testing.T) {
	cases := map[string]struct {
		reason   string
		was, now func(s *Bundle) *Bundle
		// strip removes the data that older versions did not write.
		strip bool
		// want is the origin after the next change. Before that change, nothing is written.
		want string
	}{
		"Older": {
			reason: "An inventory of an older version is used, and names its owner after the next write.", strip: true,
			was: func(s *Bundle) *Bundle { return s }, now: func(s *Bundle) *Bundle { return of(s, "1", "a") }, want: "1 a",
		},
		"Again": {
			reason: "A Manifest that was created again continues.",
			was:    func(s *Bundle) *Bundle { return of(s, "1", "a") }, now: func(s *Bundle) *Bundle { return of(s, "2", "a") }, want: "2 a",
		},
		"More": {
			reason: "A control plane may be known by more UIDs than before.",
			was:    func(s *Bundle) *Bundle { return of(s, "1", "crd") }, now: func(s *Bundle) *Bundle { return of(s, "1", "ns", "crd") }, want: "1 ns,crd",
		},
		"Fewer": {
			reason: "A control plane may be known by fewer UIDs than before.",
			was:    func(s *Bundle) *Bundle { return of(s, "1", "ns", "crd") }, now: func(s *Bundle) *Bundle { return of(s, "1", "crd") }, want: "1 crd",
		},
		"Unknown": {
			reason: "Without permissions, the record stays.",
			was:    func(s *Bundle) *Bundle { return of(s, "1", "a") }, now: func(s *Bundle) *Bundle { return of(s, "") }, want: "1 a",
		},
		"Library": {
			reason: "A bundle without an owner changes no record.",
			was:    func(s *Bundle) *Bundle { return of(s, "1", "a") }, want: "1 a",
			now: func(s *Bundle) *Bundle {
				out := of(s, "2", "b")
				out.Owner = ""
				return out
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", webTemplates...))
			b.reconcile(tc.was(s))
			if tc.strip {
				b.s.edit(parentSecret, func(u *unstructured.Unstructured) {
					a := u.GetAnnotations()
					delete(a, object.AnnotationOwnerUID)
					delete(a, object.AnnotationControlPlane)
					u.SetAnnotations(a)
				})
			}
			b.restart()
			before := b.origin()
			if o := b.observe(tc.now(s)); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nObserve(...): %+v", tc.reason, o)
			}
			b.s.took()
			if _, err := b.Apply(t.Context(), b.c, tc.now(s)); err != nil {
				t.Fatal(err)
			}
			for _, r := range b.s.took() {
				if !strings.HasPrefix(r, "get") {
					t.Errorf("\n%s\nrequest %q", tc.reason, r)
				}
			}
			if got := b.origin(); got != before {
				t.Errorf("\n%s\nwant %q until the next change, got %q", tc.reason, before, got)
			}
			changed := *tc.now(s)
			changed.Labels = map[string]string{"another": "label"}
			b.reconcile(&changed)
			if diff := cmp.Diff(tc.want, b.origin()); diff != "" {
				t.Errorf("\n%s\nthe inventory: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
