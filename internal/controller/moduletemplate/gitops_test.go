// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// TestGitOps checks how GitOps tools assess a ModuleTemplate.
func TestGitOps(t *testing.T) {
	unsigned, err := ocm.Decode([]byte(descriptor))
	if err != nil {
		t.Fatal(err)
	}
	_, key := publicKey(t)
	_, invalid := module.NewResolver(nil, archive.Limits{}).Resolve(t.Context(), nil, &v1alpha1.ModuleTemplate{})
	// after returns the template a after a pass.
	after := func(others []*v1alpha1.ModuleTemplate, arrange func(b *bench)) *v1alpha1.ModuleTemplate {
		b := newBench(t, append(others, template("a", "sample", "regular"))...)
		b.resolver.components = []*ocm.Descriptor{unsigned}
		arrange(b)
		out, _ := b.reconcile(t, "a")
		return out
	}
	fresh := template("a", "sample", "regular")
	fresh.Status.ObservedGeneration = -1
	changed := after(nil, func(*bench) {})
	changed.Generation++
	deleted := after(nil, func(*bench) {})
	deleted.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	gitopstest.Check(t, map[string]gitopstest.Case{
		"New":      {Reason: "The API server sets a default status until the provider has processed the ModuleTemplate.", Object: fresh, Want: gitopstest.Waits},
		"Resolved": {Reason: "The ModuleTemplate is resolved.", Object: after(nil, func(*bench) {}), OK: true, Want: gitopstest.Works},
		"Changed": {
			Reason: "The built-in rule of Argo CD does not compare generations; the next pass comes within a second.", Object: changed, Stale: true,
			Want: gitopstest.Health{Kstatus: "InProgress", ArgoCD: "Healthy", Documented: "Progressing"},
		},
		"Down": {
			Reason: "The registry does not respond, and the provider retries.", Object: after(nil, func(b *bench) { b.resolver.err = errors.New("the registry is down") }),
			Want: gitopstest.Waits,
		},
		"Invalid": {
			Reason: "The descriptor is invalid, so only a change helps.", Object: after(nil, func(b *bench) { b.resolver.err = invalid }), Want: gitopstest.Failed,
		},
		"Ambiguous": {
			Reason: "Another ModuleTemplate provides the module in the same channel.", Object: after([]*v1alpha1.ModuleTemplate{template("b", "sample", "regular")}, func(*bench) {}),
			Want: gitopstest.Failed,
		},
		"Unsigned": {
			Reason: "The descriptor has no valid signature.", Object: after(nil, func(b *bench) { b.r.keys = newKeys([]ocm.Key{key}) }),
			Want: gitopstest.Failed,
		},
		"Lowered": {
			Reason: "A lower version must be allowed by the user.",
			Object: after(nil, func(b *bench) {
				b.reconcile(t, "a")
				b.change(t, "a", newGeneration)
				b.resolver.version = "0.9.0"
			}),
			Want: gitopstest.Failed,
		},
		"Deleting": {Reason: "The ModuleTemplate is being deleted.", Object: deleted, Want: gitopstest.Removed},
	})
}
