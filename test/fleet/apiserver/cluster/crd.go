// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
)

// crdResource returns the resource of a CRD.
func crdResource(crd map[string]any) (schema.GroupResource, bool) {
	group, _ := nested(crd, "spec", "group").(string)
	plural, _ := nested(crd, "spec", "names", "plural").(string)
	return schema.GroupResource{Group: group, Resource: plural}, plural != ""
}

// serveCRDs makes the cluster serve the kinds of its CRDs.
func (c controller) serveCRDs() {
	crds := Target{Kind: c.cluster.kindOf("apiextensions.k8s.io", "customresourcedefinitions")}
	_, records, _, _ := c.cluster.store.List(crds.Kind.GroupResource(), "", 0) //nolint:dogsled // The latest version is always known.
	var served []*kinds.Kind
	for _, r := range records {
		// A CRD with an invalid schema is not served. A real API server refuses it.
		if of, err := kinds.OfCRD(crds.view(r)); err == nil {
			served = append(served, of...)
		}
	}
	c.cluster.kinds.Store(kinds.Builtin().With(served))
}

// setCondition makes a condition of a status true. Conditions are sorted as they were added.
func setCondition(object map[string]any, kind, reason, message string) {
	s := child(object, "status")
	list, _ := s["conditions"].([]any)
	next := map[string]any{"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now()}
	for i, item := range list {
		m, _ := item.(map[string]any)
		if m["type"] != any(kind) {
			continue
		}
		if m["status"] == any("True") {
			next["lastTransitionTime"] = m["lastTransitionTime"]
		}
		list = slices.Clone(list)
		list[i] = next
		s["conditions"] = list
		return
	}
	s["conditions"] = append(slices.Clone(list), next)
}
