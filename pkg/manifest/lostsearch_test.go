// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// lists returns the kinds that were listed since the last call.
func (b *bench) lists() []string {
	var out []string
	for _, r := range b.s.took() {
		if kind, ok := strings.CutPrefix(r, "getcollection "); ok {
			out = append(out, strings.TrimSpace(kind))
		}
	}
	return out
}

// TestLostInventorySearch checks when the objects of a bundle are searched for: only if its inventory was lost.
func TestLostInventorySearch(t *testing.T) {
	installed := func(*testing.T, *bench) *Bundle {
		s := bundleOf(install("web", webTemplates...))
		s.Installed = true
		return s
	}
	kinds := []string{"ConfigMap", "Deployment", "Secret"}
	cases := map[string]struct {
		reason string
		bundle func(t *testing.T, b *bench) *Bundle
		call   func(b *bench, s *Bundle) error
		want   []string // Some of the kinds above.
	}{
		"New": {
			reason: "A bundle that was never installed has no inventory.",
			bundle: func(*testing.T, *bench) *Bundle { return bundleOf(install("web", webTemplates...)) },
			call:   func(b *bench, s *Bundle) error { _, err := b.Exists(b.t.Context(), b.c, s); return err },
		},
		"Installed": {
			reason: "Nothing is known about any kind.", bundle: installed,
			call: func(b *bench, s *Bundle) error { _, err := b.Exists(b.t.Context(), b.c, s); return err }, want: kinds,
		},
		"Watched": {
			reason: "The watch shows no Deployment, but another client may have removed the label that it selects.", bundle: installed,
			call: func(b *bench, s *Bundle) error {
				b.c.tracked[schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}] = false
				_, err := b.Exists(b.t.Context(), b.c, s)
				return err
			},
			want: kinds,
		},
		"Observed": {
			reason: "An observation leaves the search to the next step.", bundle: installed,
			call: func(b *bench, s *Bundle) error { _, err := b.Observe(b.t.Context(), b.c, s); return err },
		},
		"Removed": {
			reason: "After a removal, the inventory is missing for a reason.", bundle: installed,
			call: func(b *bench, s *Bundle) error {
				b.reconcile(s)
				b.takeAll(s)
				b.s.took()
				_, err := b.Exists(b.t.Context(), b.c, s)
				return err
			},
		},
		"Moved": {
			reason: "In the cluster that the bundle moves to, it was never installed.",
			bundle: func(_ *testing.T, b *bench) *Bundle {
				b.s.cluster = "new"
				s := bundleOf(install("web", webTemplates...))
				s.Installed, s.ClusterUID, s.NewClusterUID = true, "old", "new"
				return s
			},
			call: func(b *bench, s *Bundle) error { _, err := b.Exists(b.t.Context(), b.c, s); return err },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := tc.bundle(t, b)
			b.s.took()
			if err := tc.call(b, s); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range b.lists() {
				if slices.Contains(kinds, k) && !slices.Contains(got, k) {
					got = append(got, k)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nlisted: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHiddenInventory checks that an inventory which lost the label of the watch is not taken for a lost one, and gets its label back.
func TestHiddenInventory(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	b.s.edit(parentSecret, stripped(object.LabelManagedBy))
	s.Installed = true
	if r := b.apply(s); r.Rebuilt != nil || r.Created+r.Updated > 0 {
		t.Errorf("Apply(...): %+v", r)
	}
	if o := b.observe(s); !o.Exists || !o.UpToDate {
		t.Errorf("observation: %+v", o)
	}
	if exists, err := b.Exists(t.Context(), b.c, s); !exists || err != nil {
		t.Errorf("Exists(...): got %t, %v", exists, err)
	}
	b.takeAll(s)
}

// TestLostInventoryDenied checks that a removal ends without an inventory only if the credentials may list all kinds.
func TestLostInventoryDenied(t *testing.T) {
	refused := func(kinds ...string) func(verb string, k cluster.ObjectRef) *metav1.Status {
		return func(verb string, k cluster.ObjectRef) *metav1.Status {
			if verb != "getcollection" || !slices.Contains(kinds, k.Kind) {
				return nil
			}
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "cannot list %s", k.Kind)
		}
	}
	cases := map[string]struct {
		reason string
		denied []string
		gone   bool // The objects are gone, too.
		want   bool
		err    bool
	}{
		"OtherKind":     {reason: "The objects that were found can be removed.", denied: []string{"Pod"}, want: true},
		"Nothing":       {reason: "Without permission to list them, there may be Pods.", denied: []string{"Pod"}, gone: true, err: true},
		"Objects":       {reason: "Without permission to list them, there may be ConfigMaps.", denied: []string{"ConfigMap"}, err: true},
		"NothingDenied": {reason: "With all permissions, it is certain that no objects exist.", gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(plainOf("raw", configMap("four")))
			b.reconcile(s)
			b.s.remove(parentSecret)
			if tc.gone {
				b.s.remove(key("ConfigMap", "apps", "four"))
			}
			b.restart()
			b.s.fault = refused(tc.denied...)
			s.Installed = true
			got, err := b.Exists(t.Context(), b.c, s)
			if got != tc.want || kerrors.IsForbidden(err) != tc.err || (err != nil) != tc.err {
				t.Errorf("\n%s\nExists(...): want %t, an error %t, got %t, %v", tc.reason, tc.want, tc.err, got, err)
			}
			if _, err := b.Remove(t.Context(), b.c, s); (err != nil) != tc.err {
				t.Errorf("\n%s\nRemove(...): want an error %t, got %v", tc.reason, tc.err, err)
			}
			b.s.fault = nil
			// An install does not depend on it.
			b.reconcile(s)
		})
	}
}

// TestLostInventoryUnreachable checks that a removal waits if the cluster does not say which objects there are.
func TestLostInventoryUnreachable(t *testing.T) {
	for name, fail := range map[string]func(b *bench){
		"List": func(b *bench) {
			b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
				if verb == "getcollection" && k.Kind == "ConfigMap" {
					return refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "try later")
				}
				return nil
			}
		},
		"Page": func(b *bench) { b.s.page = pages["HTML"].to(resources("configmaps")) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(plainOf("raw", configMap("four")))
			b.reconcile(s)
			b.s.remove(parentSecret)
			b.restart()
			fail(b)
			s.Installed = true
			if got, err := b.Exists(t.Context(), b.c, s); err == nil {
				t.Errorf("Exists(...): want an error, got %t", got)
			}
			if r, err := b.Remove(t.Context(), b.c, s); err == nil {
				t.Errorf("Remove(...): want an error, got %+v", r)
			}
			b.s.fault, b.s.page = nil, nil
			b.takeAll(s)
		})
	}
}

// TestLostInventoryReinstalled checks that a process that has removed a bundle searches for its objects again after another process has
// installed it and its inventory was lost.
func TestLostInventoryReinstalled(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, tmplDeploy))
	b.reconcile(s)
	b.takeAll(s)
	b.another().reconcile(s)
	b.s.remove(parentSecret)
	s = bundleOf(install("web", tmplConfig))
	s.Installed = true
	b.reconcile(s)
	if b.s.objects[webDeployment] != nil {
		t.Errorf("%s must be pruned, because the bundle no longer contains it", webDeployment)
	}
}
