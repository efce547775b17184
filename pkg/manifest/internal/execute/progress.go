// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A Progress says how far a plan has been carried out. It has copies of what changes on the way, so that the plan stays as it is.
type Progress struct {
	// Inventory as it is to be saved.
	Inventory *inventory.Inventory
	// Objects that exist, as far as they are known by now.
	Objects map[cluster.ObjectRef]cluster.ObjectState

	plan *plan.Plan
	// components that are applied: those of the plan without those that were dropped since.
	components []*compose.Component
	// actions of the plan that are not done yet.
	actions map[cluster.ObjectRef]plan.ObjectAction
	// restarted are the objects whose contention ended, as intend returns them.
	restarted map[cluster.ObjectRef]bool
	// runs of the hooks of components by part, once they began.
	runs     map[object.PartID]*inventory.Run
	verdicts plan.Verdicts
}

// Begin to carry out a plan.
func Begin(p *plan.Plan) *Progress {
	actions := make(map[cluster.ObjectRef]plan.ObjectAction, len(p.Actions))
	for _, a := range p.Actions {
		actions[a.Ref] = a
	}
	return &Progress{
		Inventory: p.Inventory.Clone(), Objects: maps.Clone(p.Objects), plan: p, components: slices.Clone(p.Components),
		actions: actions, runs: map[object.PartID]*inventory.Run{}, verdicts: slices.Clone(p.Verdicts),
	}
}

// OwnerOf returns the part that has an object; empty for none. The inventory tells that of parts at rest only: one that is planned may
// have given an object away, and one that is no longer wanted has.
func (p *Progress) OwnerOf(ref cluster.ObjectRef) object.PartID {
	for _, c := range p.components {
		if slices.ContainsFunc(c.Objects, func(o object.Desired) bool { return o.Ref == ref }) {
			return c.Name
		}
	}
	en := p.Inventory.Find(ref)
	if en == nil || en.Pruned || !p.plan.Wants(en.Part) {
		return ""
	}
	if slices.ContainsFunc(p.components, func(c *compose.Component) bool { return c.Name == en.Part }) {
		return ""
	}
	return en.Part
}

// isApplied reports whether all parts were applied with their inputs.
func (p *Progress) isApplied() bool {
	for i := range p.plan.Parts {
		if part := &p.plan.Parts[i]; p.Inventory.Parts[part.Name].Digest != part.Digest {
			return false
		}
	}
	return true
}

// toSend returns the objects of one stage of a component that are applied, but for those that are held, and those of which it turned out
// that they are being deleted.
func (p *Progress) toSend(c *compose.Component, s object.Stage, held func(o *object.Desired) bool) []*object.Desired {
	var out []*object.Desired
	for i := range c.Objects {
		o := &c.Objects[i]
		if o.Stage == s && p.actions[o.Ref].Verb.Sends() && p.Objects[o.Ref].Status != cluster.Terminating && !held(o) {
			out = append(out, o)
		}
	}
	return out
}

// note verdicts.
func (p *Progress) note(v ...plan.Verdict) { p.verdicts = append(p.verdicts, v...) }

// wait with a part, or with an empty ID with the whole bundle, for a reason; empty for none.
func (p *Progress) wait(part object.PartID, reason string) {
	if reason != "" {
		p.note(plan.Verdict{Part: part, State: plan.Waiting, Reason: reason})
	}
}

// fail a part.
func (p *Progress) fail(part object.PartID, err error) {
	p.note(plan.Verdict{Part: part, State: plan.Failed, Reason: plan.Why(err)})
}

// drop a component that failed in a way that leaves it unknown which objects it wants.
func (p *Progress) drop(c *compose.Component, err error) {
	p.note(plan.Verdict{Part: c.Name, State: plan.Dropped, Reason: plan.Why(err)})
	p.components = slices.DeleteFunc(p.components, func(other *compose.Component) bool { return other == c })
}

// intend writes into the inventory what is about to be applied. It reports whether that has to be saved before anything is sent.
func (p *Progress) intend() (save bool) {
	p.restarted, save = plan.Intend(p.Inventory, p.components)
	return save
}

// postpone an object that is being deleted, or is gone, to the next call. The manager is the field manager of the engine.
func (p *Progress) postpone(manager string, ref cluster.ObjectRef, m *metav1.PartialObjectMetadata) {
	delete(p.Objects, ref)
	if m != nil {
		p.Objects[ref] = health.MetadataStateOf(manager, m)
	}
}
