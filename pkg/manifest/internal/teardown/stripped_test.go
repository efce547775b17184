// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestRunStripped checks that an object whose label another client removes during a removal isn't left.
func TestRunStripped(t *testing.T) {
	w := newWorld(t, Prune)
	w.in.Hooks = nil
	w.add("web", aConfig)
	w.add("db", bConfig)
	w.meet = func(line string) error {
		if line == "delete ConfigMap apps/web" {
			w.c.Edit("kubectl", named(bConfig), func(u *unstructured.Unstructured) {
				u.SetLabels(map[string]string{object.LabelManagedBy: object.DefaultManagedBy})
			})
		}
		return nil
	}
	want := []outcome{
		{
			Log:     []string{"delete ConfigMap apps/web"},
			Blocked: Blocked{State: health.Deleting, Message: "ConfigMap apps/db: was changed by another client"},
			Done:    []string{"ConfigMap apps/web"}, Left: []string{"ConfigMap apps/db", "Namespace apps"},
		},
		{
			Log:  []string{"metadata ConfigMap apps/db", "delete ConfigMap apps/db"},
			Done: []string{"ConfigMap apps/db", "ConfigMap apps/web"}, Left: []string{"Namespace apps"},
		},
	}
	got := []outcome{w.outcome(t.Context()), w.outcome(t.Context())}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nThe next call reads the object.\nRun(...), twice: -want, +got:\n%s", diff)
	}
}
