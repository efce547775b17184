// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// recreateResource makes the next step recreate the custom resource of the bundle if it was deleted together with its CRD or its
// namespace, which are now restored. It updates the inventory and the known objects. In all other cases, a missing custom
// resource means that its users deleted it, so it is not recreated.
func recreateResource(inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, restored *object.Desired) {
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if en.Stage != object.StageResource || en.UID == "" || en.Pruned || !holds(restored, en) {
			continue
		}
		if s, exists := objects[en.Ref()]; exists && s.UID != en.UID {
			continue // Another client has recreated it.
		}
		en.UID, en.Intent, en.Owned, en.Ceded, en.Restores = "", "", "", nil, nil
		delete(objects, en.Ref())
	}
}

// holds reports whether an object is the CRD or the namespace of a member, which cannot exist without it.
func holds(o *object.Desired, en *inventory.Entry) bool {
	if o.Ref.GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
		return o.Ref.Name == en.Namespace
	}
	if o.Ref.GroupKind() != object.CRDKind {
		return false
	}
	for gvk := range object.ServedKinds(&unstructured.Unstructured{Object: o.Content()}) {
		if gvk.GroupKind() == en.GVK().GroupKind() {
			return true
		}
	}
	return false
}
