// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRuleRequests checks what a readiness rule costs: one request for each change of its object, and none at rest. Only the kinds that
// rules are about are examined.
func TestRuleRequests(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", "crds/"+tmplCRD, tmplConfig, tmplDeploy))
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	s.Readiness = []Rule{{For: schema.GroupKind{Group: "apps", Kind: "Deployment"}, CEL: "has(object.status)"}}
	b.reconcile(s)
	b.observe(s)
	if diff := cmp.Diff([]string{"Deployment", "Widget"}, slices.Sorted(maps.Keys(b.c.examined))); diff != "" {
		t.Errorf("examined: -want, +got:\n%s", diff)
	}
	for i, changes := range []int{0, 1, 3, 0} {
		b.s.took()
		for n := range changes {
			b.s.status(widget, map[string]any{"state": "Ready", "beat": int64(10*i + n)})
		}
		for range 3 {
			if o := b.observe(s); changes > 0 && o.State != Ready {
				t.Errorf("Observe(...): want Ready, got %+v", o)
			}
		}
		// Changes between two passes cost one request.
		if got := b.s.took(); len(got) != min(changes, 1) {
			t.Errorf("after %d changes: want %d requests, got %v", changes, min(changes, 1), got)
		}
	}
}
