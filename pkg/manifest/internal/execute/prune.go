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

// markPruned marks for pruning the objects that a component no longer contains. It hands over a CRD that another part shares to
// that part.
func (p *progress) markPruned(c *compose.Component) {
	all := plan.Prunes(p.plan.Parts, p.inventory, c)
	p.recordPrunes(slices.DeleteFunc(all, func(a plan.ObjectAction) bool { return a.Part != c.Name }))
}

// markLeaving marks all objects of the parts that the bundle no longer contains. If such a part is added again before all of its
// objects are gone, it is applied again, even with the same inputs.
func (p *progress) markLeaving() {
	p.recordPrunes(plan.Prunes(p.plan.Parts, p.inventory))
	for name, rec := range p.inventory.Parts {
		if !p.plan.Wants(name) {
			rec.Invalidate()
			p.inventory.Parts[name] = rec
		}
	}
}

// recordPrunes records in the inventory that the objects that parts no longer contain are pruned, handed over or orphaned, as
// specified in actions. The objects of a part to which an object is handed over are applied again.
func (p *progress) recordPrunes(actions []plan.ObjectAction) {
	if len(actions) == 0 {
		return
	}
	idx := p.inventory.Index()
	orphaned := map[cluster.ObjectRef]bool{}
	for _, a := range actions {
		en := idx[a.Ref]
		switch a.Verb {
		case plan.Prune:
			en.Pruned = true
		case plan.HandOver:
			rec := p.inventory.Parts[a.Heir]
			rec.Reapply()
			rec.Shared = slices.DeleteFunc(slices.Clone(rec.Shared), func(s string) bool { return s == en.Name })
			p.inventory.Parts[a.Heir] = rec
			en.Part, en.Pruned = a.Heir, false
			p.heirs[a.Heir] = true
		case plan.Orphan:
			orphaned[a.Ref] = true
			p.release(a.Ref)
		default:
		}
	}
	p.inventory.Drop(func(en *inventory.Entry) bool { return orphaned[en.Ref()] })
}

// release records that the custom resource of the bundle stays because the bundle now has a different one. It records nothing
// if the bundle no longer has a custom resource, or if users deleted the resource.
func (p *progress) release(ref cluster.ObjectRef) {
	if _, exists := p.objects[ref]; !exists {
		return
	}
	for _, c := range p.components {
		if c.Resource != nil && len(c.Objects) > 0 {
			p.released = append(p.released, Released{Resource: ref, Instead: c.Objects[0].Ref})
		}
	}
}

// doomed returns everything that is marked to be pruned.
func (p *progress) doomed() Doomed {
	out := Doomed{OwnerOf: p.ownerOf, Objects: map[cluster.ObjectRef]cluster.ObjectState{}, Records: map[object.PartID]inventory.Part{}}
	for i := range p.inventory.Objects {
		en := p.inventory.Objects[i]
		if !en.Pruned {
			continue
		}
		out.Entries = append(out.Entries, en)
		if s, exists := p.objects[en.Ref()]; exists {
			out.Objects[en.Ref()] = s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.inventory.Parts)) {
		if !p.plan.Wants(name) {
			out.Parts = append(out.Parts, name)
			out.Records[name] = p.retired(name)
		}
	}
	return out
}

// retired returns the record of a part that the bundle no longer contains. If another part has its release, because the install
// was renamed, the record has neither the release nor deletion hooks: the release is not deleted.
func (p *progress) retired(name object.PartID) inventory.Part {
	rec := p.inventory.Parts[name]
	if p.inventory.HasRelease(rec.ReleaseOf(name), p.plan.Wants) || p.inventory.IsTakenOver(name) {
		rec.DeleteHooks = false
		rec.MoveRelease(name, rec.FormerReleaseOf(name), inventory.Release{})
	}
	return rec
}

// emptyParts returns the given parts that have no objects left.
func (p *progress) emptyParts(parts []object.PartID) []object.PartID {
	used := map[object.PartID]bool{}
	for i := range p.inventory.Objects {
		used[p.inventory.Objects[i].Part] = true
	}
	return slices.DeleteFunc(slices.Clone(parts), func(part object.PartID) bool { return used[part] })
}
