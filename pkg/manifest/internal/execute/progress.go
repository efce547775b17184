// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A progress records how far a plan has been carried out. It contains copies of everything that changes, so that the plan stays
// unchanged.
type progress struct {
	plan *plan.Plan
	// inventory is the inventory to save.
	inventory *inventory.Inventory
	// objects contains the objects that exist, as far as is known.
	objects map[cluster.ObjectRef]cluster.ObjectState
	// components contains the components that are being applied: the components of the plan, except for dropped ones.
	components []*compose.Component
	// actions contains the actions of the plan that are not done yet.
	actions map[cluster.ObjectRef]plan.ObjectAction
	// restarted contains the objects whose contention ended, as returned by plan.Intend.
	restarted map[cluster.ObjectRef]bool
	// runs contains the runs of the hooks of components by part, if they have begun.
	runs      map[object.PartID]*inventory.Run
	decisions plan.Decisions
	// heirs contains the parts to which an object was handed over, so that the next step applies their objects again.
	heirs map[object.PartID]bool
	// released contains the custom resources that stay because the bundle now has a different one.
	released []Released
}

// newProgress returns the progress of a plan before its first step.
func newProgress(p *plan.Plan) *progress {
	actions := make(map[cluster.ObjectRef]plan.ObjectAction, len(p.Actions))
	for _, a := range p.Actions {
		actions[a.Ref] = a
	}
	return &progress{
		plan: p, inventory: p.Inventory.Clone(), objects: maps.Clone(p.Objects), components: slices.Clone(p.Components), actions: actions,
		runs: map[object.PartID]*inventory.Run{}, heirs: map[object.PartID]bool{}, decisions: slices.Clone(p.Decisions),
	}
}

// ownerOf returns the part that owns an object, if any. A component in this call owns its objects. The inventory is used only for
// parts that are in the bundle and not in this call, because other parts may have given up the object.
func (p *progress) ownerOf(ref cluster.ObjectRef) (part object.PartID, owned bool) {
	for _, c := range p.components {
		if slices.ContainsFunc(c.Objects, func(o object.Desired) bool { return o.Ref == ref }) {
			return c.Name, true
		}
	}
	en := p.inventory.Find(ref)
	if en == nil || en.Pruned || !p.plan.Wants(en.Part) {
		return "", false
	}
	if slices.ContainsFunc(p.components, func(c *compose.Component) bool { return c.Name == en.Part }) {
		return "", false
	}
	return en.Part, true
}

// isMember reports whether the inventory contains an object.
func (p *progress) isMember(ref cluster.ObjectRef) bool { return p.inventory.Find(ref) != nil }

// isApplied reports whether all parts were applied with their current inputs.
func (p *progress) isApplied() bool {
	for i := range p.plan.Parts {
		if part := &p.plan.Parts[i]; p.inventory.Parts[part.Name].Digest != part.Digest {
			return false
		}
	}
	return true
}

// due returns the objects of one stage of a component to apply now, and the objects to create later, because they are being
// deleted. It returns neither objects that are held back nor objects that were found to be in deletion.
func (p *progress) due(
	c *compose.Component, s object.Stage, idx map[cluster.ObjectRef]*inventory.Entry, held func(o *object.Desired) bool,
) (now, later []*object.Desired) {
	for i := range c.Objects {
		o := &c.Objects[i]
		if o.Stage != s || held(o) {
			continue
		}
		verb := p.actions[o.Ref].Verb
		switch {
		case verb == plan.Skip:
			now = append(now, o) // The Applier confirms that it was deleted.
		case !verb.Eventually(idx[o.Ref]).Sends():
		case !verb.Sends():
			later = append(later, o)
		case p.objects[o.Ref].Status != cluster.Terminating:
			now = append(now, o)
		}
	}
	return now, later
}

// note adds decisions.
func (p *progress) note(v ...plan.Decision) { p.decisions = append(p.decisions, v...) }

// wait records the reason why a part, or the whole bundle, waits.
func (p *progress) wait(part object.PartID, reason string) {
	p.note(plan.Decision{Part: part, Hindrance: plan.Waiting, Reason: reason})
}

// fail records that a part failed.
func (p *progress) fail(part object.PartID, err error) {
	p.note(plan.Fail(part, plan.Failed, err))
}

// drop removes a component that failed in such a way that its objects are unknown.
func (p *progress) drop(c *compose.Component, err error) {
	p.note(plan.Fail(c.Name, plan.Dropped, err))
	p.components = slices.DeleteFunc(p.components, func(other *compose.Component) bool { return other == c })
}

// noteHooks records the progress of the hooks of a part.
func (p *progress) noteHooks(part object.PartID, h Hooked) {
	p.runs[part] = h.Run
	p.noteEffect(part, h.Effect)
}

// noteEffect records in the inventory the effect of the hooks of a part.
func (p *progress) noteEffect(part object.PartID, e hook.Effect) {
	p.inventory.Parts[part] = e.Record
	for _, ref := range e.Taken {
		if _, owned := p.ownerOf(ref); !owned {
			p.inventory.Drop(func(en *inventory.Entry) bool { return en.Ref() == ref })
		}
	}
}

// intend records in the inventory what is about to be applied. It reports whether the inventory must be saved before the first
// request.
func (p *progress) intend() (save bool) {
	p.restarted, save = plan.Intend(p.inventory, p.components)
	return p.noteFailures() || save
}

// noteFailures records in the inventory the Jobs that failed and will be deleted. It reports whether there is a new one.
func (p *progress) noteFailures() (changed bool) {
	for i := range p.inventory.Objects {
		en := &p.inventory.Objects[i]
		if en.IsNewlyFailed(p.objects[en.Ref()]) {
			en.FailedUID, changed = en.UID, true
		}
	}
	return changed
}

// postpone leaves an object that is being deleted, or is gone, to the next call. The parameter m is its metadata, or nil if it is
// gone. The manager is the field manager of the engine.
func (p *progress) postpone(manager string, ref cluster.ObjectRef, m *metav1.PartialObjectMetadata) {
	delete(p.objects, ref)
	if m != nil {
		p.objects[ref] = health.MetadataStateOf(manager, m)
	}
}
