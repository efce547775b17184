// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestServedKinds(t *testing.T) {
	names := map[string]any{"kind": "K", "plural": "ks"}
	served := []any{map[string]any{"name": "v1", "served": true}}
	cases := map[string]struct {
		reason string
		spec   map[string]any
		want   map[schema.GroupVersionKind]cluster.Mapping
	}{
		"Empty": {reason: "A CRD without names has no kinds.", want: map[schema.GroupVersionKind]cluster.Mapping{}},
		"NoPlural": {
			reason: "A kind without a plural name cannot be addressed.",
			spec:   map[string]any{"group": "g", "names": map[string]any{"kind": "K"}, "versions": served},
			want:   map[schema.GroupVersionKind]cluster.Mapping{},
		},
		"Versions": {
			reason: "Only served versions count, and malformed entries are skipped.",
			spec: map[string]any{"group": "g", "scope": "Cluster", "names": names, "versions": []any{
				map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v2", "served": false}, map[string]any{"name": "v3"}, int64(7),
			}},
			want: map[schema.GroupVersionKind]cluster.Mapping{{Group: "g", Version: "v1", Kind: "K"}: {Resource: "ks"}},
		},
		"Namespaced": {
			reason: "The scope determines whether the kind is namespaced.",
			spec:   map[string]any{"group": "g", "scope": "Namespaced", "names": names, "versions": served},
			want:   map[schema.GroupVersionKind]cluster.Mapping{{Group: "g", Version: "v1", Kind: "K"}: {Resource: "ks", Namespaced: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			crd := &unstructured.Unstructured{Object: map[string]any{"kind": "CustomResourceDefinition"}}
			if tc.spec != nil {
				crd.Object["spec"] = tc.spec
			}
			if diff := cmp.Diff(tc.want, ServedKinds(crd)); diff != "" {
				t.Errorf("\n%s\nKindsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
