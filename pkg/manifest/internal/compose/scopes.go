// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// scopes maps the kinds that CRDs add to their scopes: true for namespaced kinds.
type scopes map[schema.GroupKind]bool

// learn adds the scopes of the kinds that the CRDs among the objects define.
func (s scopes) learn(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range object.ServedKinds(u) {
			s[gvk.GroupKind()] = m.Namespaced
		}
	}
}

// of returns the scope of a kind, and whether that is known without a cluster.
func (s scopes) of(gk schema.GroupKind) (namespaced, known bool) {
	if namespaced, known = s[gk]; known {
		return namespaced, true
	}
	return object.BuiltinScope(gk)
}
