// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A Prune is what a bundle no longer has.
type Prune struct {
	// Entries of the objects that are to be deleted.
	Entries []*inventory.Entry
	// Parts of the inventory that the bundle no longer has.
	Parts []object.PartID
}

// markPruned marks the objects that a component no longer has. A CRD that another part shares is handed over to it.
func (p *Progress) markPruned(c *compose.Component) {
	all := plan.Prunes(p.plan.Parts, p.Inventory, c)
	p.giveUp(slices.DeleteFunc(all, func(a plan.ObjectAction) bool { return a.Part != c.Name }))
}

// markLeaving marks all objects of the parts that the bundle no longer has. A part that comes back before all of it is gone has to be
// applied again, whatever its inputs.
func (p *Progress) markLeaving() {
	p.giveUp(plan.Prunes(p.plan.Parts, p.Inventory))
	for name, rec := range p.Inventory.Parts {
		if !p.plan.Wants(name) {
			rec.Digest = ""
			p.Inventory.Parts[name] = rec
		}
	}
}

// giveUp the objects that parts no longer have, as actions say. The heir of an object has to be applied again.
func (p *Progress) giveUp(actions []plan.ObjectAction) {
	if len(actions) == 0 {
		return
	}
	idx := p.Inventory.Index()
	orphaned := map[cluster.ObjectRef]bool{}
	for _, a := range actions {
		en := idx[a.Ref]
		switch a.Verb {
		case plan.Prune:
			en.Pruned = true
		case plan.HandOver:
			rec := p.Inventory.Parts[a.Heir]
			rec.Digest = ""
			rec.Shared = slices.DeleteFunc(slices.Clone(rec.Shared), func(s string) bool { return s == en.Name })
			p.Inventory.Parts[a.Heir] = rec
			en.Part, en.Pruned = a.Heir, false
		case plan.Orphan:
			orphaned[a.Ref] = true
		default:
		}
	}
	p.Inventory.Drop(func(en *inventory.Entry) bool { return orphaned[en.Ref()] })
}

// prune returns what is marked.
func (p *Progress) prune() Prune {
	out := Prune{}
	for i := range p.Inventory.Objects {
		if en := &p.Inventory.Objects[i]; en.Pruned {
			out.Entries = append(out.Entries, en)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inventory.Parts)) {
		if !p.plan.Wants(name) {
			out.Parts = append(out.Parts, name)
		}
	}
	return out
}

// emptyParts returns those of some parts that have no objects any more.
func (p *Progress) emptyParts(parts []object.PartID) []object.PartID {
	used := map[object.PartID]bool{}
	for i := range p.Inventory.Objects {
		used[p.Inventory.Objects[i].Part] = true
	}
	return slices.DeleteFunc(slices.Clone(parts), func(part object.PartID) bool { return used[part] })
}
