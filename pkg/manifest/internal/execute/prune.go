// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
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
	wanted := make(map[cluster.ObjectRef]bool, len(c.Objects))
	for i := range c.Objects {
		wanted[c.Objects[i].Ref] = true
	}
	for i := range p.Inventory.Objects {
		if en := &p.Inventory.Objects[i]; en.Part == c.Name && !wanted[en.Ref()] {
			p.giveUp(en)
		}
	}
}

// markLeaving marks all objects of the parts that the bundle no longer has. A part that comes back before all of it is gone has to be
// applied again, whatever its inputs. The custom resource of the bundle belongs to its users then, and only its entry goes.
func (p *Progress) markLeaving() {
	if !p.plan.Wants(object.PartResource) {
		p.Inventory.Drop(func(e *inventory.Entry) bool { return e.Part.Kind() == object.PartKindResource })
	}
	for i := range p.Inventory.Objects {
		if en := &p.Inventory.Objects[i]; !en.Pruned && !p.plan.Wants(en.Part) {
			p.giveUp(en)
		}
	}
	for name, rec := range p.Inventory.Parts {
		if !p.plan.Wants(name) {
			rec.Digest = ""
			p.Inventory.Parts[name] = rec
		}
	}
}

// giveUp an object that its part no longer has: it belongs to its heir from then on, and is pruned where it has none. An heir has to
// be applied again.
func (p *Progress) giveUp(en *inventory.Entry) {
	name := p.heirOf(en)
	if name == "" {
		en.Pruned = true
		return
	}
	rec := p.Inventory.Parts[name]
	rec.Digest = ""
	rec.Shared = slices.DeleteFunc(slices.Clone(rec.Shared), func(s string) bool { return s == en.Name })
	p.Inventory.Parts[name] = rec
	en.Part, en.Pruned = name, false
}

// heirOf an object that its part no longer has: the first other part that has it, too. Only CRDs may be of several parts.
func (p *Progress) heirOf(en *inventory.Entry) object.PartID {
	if en.Stage != object.StageCRDs {
		return ""
	}
	for i := range p.plan.Parts {
		name := p.plan.Parts[i].Name
		if name != en.Part && slices.Contains(p.Inventory.Parts[name].Shared, en.Name) {
			return name
		}
	}
	return ""
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

// pruned returns the references to the entries that would be deleted, the last stage first: objects of a bundle with an ApplySet
// ID that exist and are not kept.
func (p *Progress) pruned(entries []*inventory.Entry, id string) []cluster.ObjectRef {
	var out []cluster.ObjectRef
	for _, s := range slices.Backward(object.Stages) {
		for _, en := range entries {
			state, exists := p.Objects[en.Ref()]
			if en.Stage == s && exists && !en.Keep && !state.Keep && state.Set == id && state.Status != cluster.Terminating {
				out = append(out, en.Ref())
			}
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
