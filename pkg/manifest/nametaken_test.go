// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNameTaken checks that a bundle that adopts the inventory of another owner with its name finds the objects that the inventory of that owner lacks,
// because it was created while the inventory of the bundle was lost.
func TestNameTaken(t *testing.T) {
	cases := map[string]struct {
		reason string
		// meanwhile is a request of the step before which the other owner takes the name over. It does so before the step if this is empty.
		meanwhile string
	}{
		"Before":    {reason: "The other owner creates its inventory before the step."},
		"Meanwhile": {reason: "The other owner creates its inventory while the step searches.", meanwhile: "/configmaps"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(bundleOf(install("web", configMap("one")), install("gone", configMap("two")), plainOf("raw", configMap("three"))))
			b.s.remove(parentSecret)
			b.restart()
			theirs, other := bundleOf(install("web", configMap("one"))), b.another()
			theirs.Owner, theirs.Adopt = "Manifest team-b/web", true
			if tc.meanwhile == "" {
				other.apply(theirs)
			} else {
				b.interrupt(http.MethodGet, tc.meanwhile, func() { other.apply(theirs) })
			}
			s := bundleOf(install("web", configMap("one")))
			s.Adopt, s.Installed = true, true
			r, err := b.Apply(t.Context(), b.c, s)
			if err != nil || r.Rebuilt == nil {
				t.Errorf("\n%s\nApply(...): want a report of the search, got %+v, %v", tc.reason, r, err)
			}
			b.reconcile(s)
			var got []string
			for _, k := range b.s.keys() {
				if strings.HasPrefix(k, "ConfigMap ") {
					got = append(got, k)
				}
			}
			if diff := cmp.Diff([]string{"ConfigMap apps/one"}, got); diff != "" {
				t.Errorf("\n%s\nobjects: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"apps/web.v1 deployed"}, b.records()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
			b.s.took()
			if _, err := b.Apply(t.Context(), b.c, s); err != nil || len(b.lists()) > 0 {
				t.Errorf("\n%s\nthe next step: want no search, got %v", tc.reason, err)
			}
		})
	}
}
