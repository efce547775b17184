// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The readiness of the custom resource, and of kinds with rules, is evaluated once for each version of an object.
func TestReadiness(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("operator", "crds/"+tmplCRD, tmplDeploy, fmt.Sprintf(tmplWidget, "other")))
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	b.reconcile(s)
	expect := func(state State, message string, requests ...string) {
		t.Helper()
		b.s.took()
		o := b.observe(s)
		if o.State != state || o.Message != message || !o.UpToDate {
			t.Errorf("observation: want %s %q, got %+v", state, message, o)
		}
		if diff := cmp.Diff(requests, b.s.took()); diff != "" {
			t.Errorf("requests: -want, +got:\n%s", diff)
		}
	}
	expect(Processing, "resource: Widget default/main: has no status yet")
	b.s.status(widget, map[string]any{"state": "Error", "conditions": []any{map[string]any{"status": "False", "message": "no disk"}}})
	expect(Error, "resource: Widget default/main: status.state is Error: no disk", "get Widget default/main")
	b.s.status(widget, map[string]any{"state": "Ready"})
	expect(Ready, "", "get Widget default/main")
	expect(Ready, "")
	s.Readiness = []Rule{{CEL: `object.status.size == 2`}, {CEL: `has(object.status)`, For: schema.GroupKind{Group: "example.org", Kind: "Widget"}}}
	expect(Processing, `operator: Widget apps/other: readiness rule "has(object.status)" is not met`, "get Widget apps/other", "get Widget default/main")
	b.s.status(key("Widget", "apps", "other"), map[string]any{"x": "y"})
	b.s.status(widget, map[string]any{"size": int64(2)})
	expect(Ready, "", "get Widget apps/other", "get Widget default/main")
}
