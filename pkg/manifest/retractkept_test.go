// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestRetractKept checks that a step that another process overtakes by removing the bundle orphans again what it applied again.
func TestRetractKept(t *testing.T) {
	const kept = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: apps, annotations: {helm.sh/resource-policy: keep}}}"
	cases := map[string]struct {
		reason string
		bundle *Bundle
		// given prepares the cluster, with the bundle installed.
		given func(b *bench, s *Bundle)
		ref   cluster.ObjectRef
		path  string
	}{
		"Kept": {
			reason: "The object stays because of its annotation.", bundle: bundleOf(install("web", kept, tmplDeploy)),
			ref: key("ConfigMap", "apps", "kept"), path: "/configmaps/kept",
		},
		"Adopted": {
			reason: "The CRD stays because the lost inventory did not show who had installed it.", bundle: bundleOf(install("web", "crds/"+tmplCRD, tmplConfig)),
			given: func(b *bench, s *Bundle) {
				b.s.remove(parentSecret)
				s.Installed = true
				b.reconcile(s)
				s.Installed = false
			},
			ref: key("CustomResourceDefinition", "", "widgets.example.org"), path: "/customresourcedefinitions/widgets.example.org",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(tc.bundle)
			if tc.given != nil {
				tc.given(b, tc.bundle)
			}
			b.takeAll(tc.bundle)
			if b.s.objects[tc.ref] == nil {
				t.Fatalf("\n%s\n%s is gone", tc.reason, tc.ref)
			}
			uid := b.s.uidOf(tc.ref)
			other := b.another()
			b.interrupt(http.MethodPatch, tc.path, func() { other.takeAll(tc.bundle) })
			if _, err := b.Apply(t.Context(), b.c, tc.bundle); err == nil {
				t.Errorf("\n%s\nApply(...): want an error", tc.reason)
			}
			if diff := cmp.Diff([]string(nil), b.unlisted(tc.bundle)); diff != "" {
				t.Errorf("\n%s\nmembers without an inventory: -want, +got:\n%s", tc.reason, diff)
			}
			if got := b.s.objects[tc.ref].u().GetAnnotations()[object.AnnotationKeptBy]; b.s.uidOf(tc.ref) != uid || got != b.ID(tc.bundle) {
				t.Errorf("\n%s\n%s was replaced, or is kept by %q", tc.reason, tc.ref, got)
			}
			b.reconcile(tc.bundle)
		})
	}
}

// TestRepairOfReleased checks that a process whose watch doesn't show yet that another process released an object doesn't repair its labels,
// and that it repairs them if another client removed them.
func TestRepairOfReleased(t *testing.T) {
	kept := key("ConfigMap", "apps", "kept")
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: apps, annotations: {helm.sh/resource-policy: keep}}}"
	with, without := bundleOf(plainOf("raw", text+"\n", configMap("one"))), bundleOf(plainOf("raw", configMap("one")))
	cases := map[string]struct {
		reason string
		act    func(b *bench)
		want   bool
	}{
		"Released": {reason: "Another process released the object.", act: func(b *bench) { b.another().reconcile(without) }},
		"Stripped": {
			reason: "The object was kept once, belongs to the bundle again, and lost its labels.",
			act: func(b *bench) {
				b.s.edit(kept, set(b.ID(with), "metadata", "annotations", object.AnnotationKeptBy))
				b.s.edit(kept, stripped(object.LabelPartOf))
				b.s.edit(kept, stripped(object.LabelManagedBy))
			},
			want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.c.watch = newFakeWatch(b.s)
			b.reconcile(with)
			b.c.watch.catchUp()
			b.c.watch.lag("Secret", 1000)
			tc.act(b)
			_, err := b.Apply(t.Context(), b.c, with)
			if (err == nil) != tc.want {
				t.Errorf("\n%s\nApply(...): %v", tc.reason, err)
			}
			if got := isOwn(b.s.objects[kept], b.ID(with)); got != tc.want {
				t.Errorf("\n%s\n%s belongs to the bundle: %t, want %t", tc.reason, kept, got, tc.want)
			}
		})
	}
}

// TestRepairDuringRemoval repairs a bundle from another process at each request of a removal. In the end, no object that stays has the labels
// of the bundle, whether or not the watch shows what the other process does.
func TestRepairDuringRemoval(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: apps, annotations: {helm.sh/resource-policy: keep}}}\n"
	s := bundleOf(plainOf("raw", strings.ReplaceAll(text, "NAME", "kept"), strings.ReplaceAll(text, "NAME", "other"), configMap("one")))
	for name, lag := range map[string]int{"Current": 0, "Lagging": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, met := 0, true; met; n++ {
				b := newBench(t)
				b.c.watch = newFakeWatch(b.s)
				b.reconcile(s)
				b.c.watch.lag("", lag)
				other := b.another()
				met = false
				b.c.before = atRequest(n, func() { met = true; _, _ = other.Apply(t.Context(), other.c, s) })
				for range 20 {
					if r, err := b.Remove(t.Context(), b.c, s); err == nil && r.Gone {
						break
					} else if err != nil && !isChanged(err) {
						t.Errorf("repaired at request %d: want that the removal ends only because the inventory changed, got %v", n, err)
					}
				}
				b.c.before = nil
				if b.inventory(s) != nil {
					t.Errorf("repaired at request %d: the bundle is not gone", n)
				}
				for _, name := range []string{"kept", "other"} {
					if k := key("ConfigMap", "apps", name); b.s.objects[k] == nil || isOwn(b.s.objects[k], b.ID(s)) {
						t.Errorf("repaired at request %d: %s is gone, or has the labels of the bundle", n, k)
					}
				}
			}
		})
	}
}
