// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
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
			if diff := cmp.Diff([]string(nil), b.strays(tc.bundle)); diff != "" {
				t.Errorf("\n%s\nmembers without an inventory: -want, +got:\n%s", tc.reason, diff)
			}
			if got := b.s.objects[tc.ref].u().GetAnnotations()[object.AnnotationKeptBy]; b.s.uidOf(tc.ref) != uid || got != b.ID(tc.bundle) {
				t.Errorf("\n%s\n%s was replaced, or is kept by %q", tc.reason, tc.ref, got)
			}
			b.reconcile(tc.bundle)
		})
	}
}
