// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Prunes returns the actions on the objects of an inventory that the bundle no longer contains: objects that components dropped,
// objects of parts that left the bundle, and objects already marked as pruned.
func Prunes(parts []bundle.Part, inv *inventory.Inventory, components ...*compose.Component) []ObjectAction {
	wanted := refsOf(components)
	var out []ObjectAction
	for i := range inv.Objects {
		en := &inv.Objects[i]
		refs, composed := wanted[en.Part]
		a := ObjectAction{Part: en.Part, Ref: en.Ref(), Verb: Prune}
		dropped, left := composed && !refs[a.Ref], !wants(parts, en.Part)
		if !dropped && !left && !en.Pruned {
			continue
		}
		if en.Part.Kind() == object.PartKindResource {
			// The custom resource now belongs to its users. Older versions marked a renamed custom resource for pruning.
			a.Verb = Orphan
		} else if heir, inherited := heirOf(parts, inv, en); inherited && (dropped || !en.Pruned) {
			a.Verb, a.Heir = HandOver, heir
		}
		out = append(out, a)
	}
	return out
}

// refsOf returns the objects of each component that can give up objects. A repair gives up no objects.
func refsOf(components []*compose.Component) map[object.PartID]map[cluster.ObjectRef]bool {
	out := make(map[object.PartID]map[cluster.ObjectRef]bool, len(components))
	for _, c := range components {
		if c.Purpose.Restores() {
			continue
		}
		refs := make(map[cluster.ObjectRef]bool, len(c.Objects))
		for i := range c.Objects {
			refs[c.Objects[i].Ref] = true
		}
		out[c.Name] = refs
	}
	return out
}

// heirOf returns the first other part that contains an object that its own part no longer contains. It returns false if there is
// none. Only CRDs can be shared by several parts.
func heirOf(parts []bundle.Part, inv *inventory.Inventory, en *inventory.Entry) (heir object.PartID, inherited bool) {
	if en.Stage != object.StageCRDs {
		return "", false
	}
	for i := range parts {
		name := parts[i].Name
		if name != en.Part && slices.Contains(inv.Parts[name].Shared, en.Name) {
			return name, true
		}
	}
	return "", false
}
