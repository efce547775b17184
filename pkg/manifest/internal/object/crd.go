// SPDX-License-Identifier: Apache-2.0

package object

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// ServedKinds returns the kinds that a CRD adds to the cluster, one for each served version, with their mappings.
func ServedKinds(crd *unstructured.Unstructured) map[schema.GroupVersionKind]cluster.Mapping {
	// Skip kinds with missing or malformed fields: the API server rejects such a CRD with an error that names them.
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	out := map[schema.GroupVersionKind]cluster.Mapping{}
	for _, v := range versions {
		m, ok := v.(map[string]any)
		if !ok || m["served"] != true {
			continue
		}
		if name, ok := m["name"].(string); ok && kind != "" && plural != "" {
			out[schema.GroupVersionKind{Group: group, Version: name, Kind: kind}] = cluster.Mapping{Resource: plural, Namespaced: scope == "Namespaced"}
		}
	}
	return out
}
