// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestRunMoved verifies the removal of a custom resource whose CRD no longer serves the version of the entry.
func TestRunMoved(t *testing.T) {
	given := func(change func(e *inventory.Entry)) func(w *world) {
		return func(w *world) {
			w.add(object.PartCRDs, aCRD)
			w.add("web", aDeploy)
			e := w.add("web", aWidget)
			e.Version = "v1alpha1"
			change(e)
		}
	}
	groups, other := "discover /apis", "discover /apis/example.org/v1"
	runScenarios(t, map[string]scenario{
		"Deleted": {
			reason: "It is deleted before the objects that serve it.", mode: Remove, given: given(func(*inventory.Entry) {}),
			want: outcome{
				Log: []string{
					readCRD, groups, other, "delete Widget apps/sample", listWidget, "hooks pre-delete", "delete Deployment apps/web",
					"hooks post-delete", listWidget, deleteCRD,
				},
				Done: []string{"CustomResourceDefinition widgets.example.org", "Deployment apps/web", "Widget apps/sample"},
				Left: []string{"Namespace apps"},
			},
		},
		"Kept": {
			reason: "If it stays, its CRD stays, too.", mode: Remove, given: given(func(e *inventory.Entry) { e.Keep = true }),
			want: outcome{
				Log: []string{
					readCRD, groups, other, strings.Replace(deleteCRD, "delete", "patch", 1), "patch Widget apps/sample", "hooks pre-delete",
					"delete Deployment apps/web", "hooks post-delete",
				},
				Done: []string{"CustomResourceDefinition widgets.example.org", "Deployment apps/web", "Widget apps/sample"},
				Kept: []string{"CustomResourceDefinition widgets.example.org", "Widget apps/sample"},
				Left: []string{"CustomResourceDefinition widgets.example.org", "Namespace apps", "Widget apps/sample"},
			},
		},
	})
}
