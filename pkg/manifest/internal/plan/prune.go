// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Prune is what nobody wants any more.
type Prune struct {
	// Entries of the objects that are to be deleted.
	Entries []*inventory.Entry
	// Parts of the inventory that the bundle no longer has, by name.
	Parts []string
}

// Release marks the objects that a component no longer has as pruned. A CRD that another part shares is handed over to it.
func (p *Plan) Release(c *compose.Component) {
	wanted := make(map[cluster.ObjectRef]bool, len(c.Objects))
	for i := range c.Objects {
		wanted[c.Objects[i].Ref] = true
	}
	for i := range p.Inventory.Objects {
		en := &p.Inventory.Objects[i]
		if en.Part == c.Name && !wanted[en.Ref()] && !p.handOver(en) {
			en.Pruned = true
		}
	}
}

// handOver gives a CRD that its part no longer has to another part that has it, too, and that is applied again. It reports whether
// there is one.
func (p *Plan) handOver(en *inventory.Entry) bool {
	if en.Stage != object.StageCRDs {
		return false
	}
	for i := range p.Parts {
		name := p.Parts[i].Name
		rec := p.Inventory.Parts[name]
		if name == en.Part || !slices.Contains(rec.Shared, en.Name) {
			continue
		}
		rec.Digest = ""
		rec.Shared = slices.DeleteFunc(slices.Clone(rec.Shared), func(s string) bool { return s == en.Name })
		p.Inventory.Parts[name] = rec
		en.Part, en.Pruned = name, false
		return true
	}
	return false
}

// OrphanResource removes the entry of the custom resource of a bundle that no longer has one: it belongs to its users then.
func (p *Plan) OrphanResource() {
	if !p.Wants(bundle.Resource) {
		p.Inventory.Drop(func(e *inventory.Entry) bool { return e.Part == bundle.Resource })
	}
}

// Prune returns what nobody wants any more, and marks it in the inventory. A part that comes back before all of it is gone has to be
// applied again, whatever its inputs.
func (p *Plan) Prune() Prune {
	out := Prune{}
	for i := range p.Inventory.Objects {
		en := &p.Inventory.Objects[i]
		switch {
		case en.Pruned:
		case p.Wants(en.Part):
			continue
		case p.handOver(en):
			continue
		default:
			en.Pruned = true
		}
		out.Entries = append(out.Entries, en)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inventory.Parts)) {
		if p.Wants(name) {
			continue
		}
		out.Parts = append(out.Parts, name)
		rec := p.Inventory.Parts[name]
		rec.Digest = ""
		p.Inventory.Parts[name] = rec
	}
	return out
}

// WouldPrune returns the references to the entries that would be deleted, the last stage first: objects of a bundle with an ApplySet
// ID that exist and are not kept.
func (p *Plan) WouldPrune(entries []*inventory.Entry, id string) []cluster.ObjectRef {
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

// EmptyParts returns those of some parts that have no objects any more.
func (p *Plan) EmptyParts(parts []string) []string {
	used := map[string]bool{}
	for i := range p.Inventory.Objects {
		used[p.Inventory.Objects[i].Part] = true
	}
	return slices.DeleteFunc(slices.Clone(parts), func(name string) bool { return used[name] })
}
