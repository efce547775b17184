// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// An Input is what a plan is made of.
type Input struct {
	Parts []bundle.Part
	// Inventory in the cluster; nil for none.
	Inventory *inventory.Inventory
	// Objects of the inventory that exist, and those that the credentials may not read.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	Denied  map[cluster.ObjectRef]error
	// Drift is the policy of the bundle, and Paused are the objects whose repair has to wait.
	Drift  bundle.DriftPolicy
	Paused map[cluster.ObjectRef]bool
	// Retry is the retry token of the call.
	Retry string
	Now   time.Time

	// Compose a part with the record that the inventory has of it.
	Compose func(p *bundle.Part, rec inventory.Part) (*compose.Component, error)
	// Awaited reports whether the config says that what comes after an install waits for it, and whether the config is known.
	Awaited func(install string) (awaited, known bool)
	// Unready returns the first object of an install that is not ready, and why; empty where all are. With nil no part is held back.
	Unready func(install object.PartID) (string, error)
	// MayExist reports whether an object may exist that the inventory does not know of.
	MayExist func(ref cluster.ObjectRef) bool
	// CheckCRD returns why a CRD that exists must not become the desired one.
	CheckCRD func(o *object.Desired, en inventory.Entry) error
}

// A builder makes one plan.
type builder struct {
	in   *Input
	plan Plan
	// drifted are the objects that differ from what was applied, and repairs those of them that are repaired now.
	drifted, repairs map[cluster.ObjectRef]bool
	// spared are the CRDs that are to be repaired, and cannot be now.
	spared map[cluster.ObjectRef]bool
}

// Build a plan. The error is that of Unready, and ends the call; what is wrong with parts is in the verdicts.
func Build(in Input) (*Plan, error) {
	b := &builder{in: &in, spared: map[cluster.ObjectRef]bool{}, plan: Plan{
		Parts: in.Parts, Inventory: &inventory.Inventory{Parts: map[object.PartID]inventory.Part{}},
		Objects: map[cluster.ObjectRef]cluster.ObjectState{},
	}}
	p := &b.plan
	if in.Inventory != nil {
		p.Inventory, p.Objects = in.Inventory, in.Objects
	}
	b.drifted = FindDrifted(p.Inventory, p.Objects, in.Denied, in.Now)
	b.repairs = repairs(b.drifted, &in)
	b.compose()
	b.assignOwners()
	if err := b.holdBack(); err != nil {
		return nil, err
	}
	b.checkCRDs()
	b.act()
	return p, nil
}

// say why a part is not applied, or not all of it.
func (b *builder) say(part object.PartID, s State, reason string) {
	b.plan.Verdicts = append(b.plan.Verdicts, Verdict{Part: part, State: s, Reason: reason})
}

// FindDrifted returns the objects of an inventory that differ from what was applied, or of which ceded fields are due.
func FindDrifted(
	inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, denied map[cluster.ObjectRef]error, now time.Time,
) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if en.UID == "" || en.Pruned || denied[en.Ref()] != nil {
			continue
		}
		s, exists := objects[en.Ref()]
		if _, drifted := observe.FindDrift(en, s, exists); drifted || ownership.AnyDue(en.Yields, now) {
			out[en.Ref()] = true
		}
	}
	return out
}

// repairs returns the objects that are repaired now.
func repairs(drifted map[cluster.ObjectRef]bool, in *Input) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for ref := range drifted {
		if in.Drift == bundle.DriftRepair && !in.Paused[ref] {
			out[ref] = true
		}
	}
	return out
}

// compose the parts that something has to be done for.
func (b *builder) compose() {
	for i := range b.plan.Parts {
		part := &b.plan.Parts[i]
		rec := b.plan.Inventory.Parts[part.Name]
		unfinished := b.isUnfinished(part.Name)
		if rec.Digest == part.Digest && !unfinished {
			continue
		}
		if why := rec.Stuck(part.Digest, b.in.Retry); why != "" && (!rec.Run.IsPost() || !unfinished) {
			// The inventory has all that the part wants since the hook ran.
			b.say(part.Name, Failed, text.OneLine(why))
			continue
		}
		c, err := b.in.Compose(part, rec)
		if err != nil {
			b.say(part.Name, Dropped, Why(err))
			continue
		}
		b.plan.Components = append(b.plan.Components, c)
	}
}

// isUnfinished reports whether an object of a part is to be repaired, or was never applied. Those that are pruned need no plan.
func (b *builder) isUnfinished(part object.PartID) bool {
	return slices.ContainsFunc(b.plan.Inventory.Objects, func(en inventory.Entry) bool {
		return en.Part == part && !en.Pruned && (b.repairs[en.Ref()] || en.UID == "")
	})
}

// assignOwners decides which part each object belongs to. An object of two parts is an error of the later one, except for CRDs,
// which often come with several charts: as in Helm, the first one counts.
func (b *builder) assignOwners() {
	busy := make(map[object.PartID]bool, len(b.plan.Components))
	for _, c := range b.plan.Components {
		busy[c.Name] = true
	}
	owner := map[cluster.ObjectRef]object.PartID{}
	for i := range b.plan.Inventory.Objects {
		// A part that is planned may have given an object away, and one that is no longer wanted has.
		if en := &b.plan.Inventory.Objects[i]; !en.Pruned && !busy[en.Part] && b.plan.Wants(en.Part) {
			owner[en.Ref()] = en.Part
		}
	}
	b.plan.Components = slices.DeleteFunc(b.plan.Components, func(c *compose.Component) bool {
		err := assignTo(c, owner)
		if err != nil {
			b.say(c.Name, Dropped, Why(err))
		}
		return err != nil
	})
}

// assignTo a component the objects that belong to no part before it, and record the CRDs that it shares.
func assignTo(c *compose.Component, owner map[cluster.ObjectRef]object.PartID) error {
	for i := range c.Objects {
		o := &c.Objects[i]
		if other := owner[o.Ref]; other != "" && other != c.Name && o.Stage != object.StageCRDs {
			return errors.Errorf("%s is part of %s too", o.Ref, other)
		}
	}
	var shared []string
	c.Objects = slices.DeleteFunc(c.Objects, func(o object.Desired) bool {
		if other := owner[o.Ref]; other != "" && other != c.Name {
			shared = append(shared, o.Ref.Name)
			return true
		}
		owner[o.Ref] = c.Name
		return false
	})
	slices.Sort(shared)
	c.Record.Shared = shared
	return nil
}

// holdBack the parts that come after an install whose config says Wait, as long as that one is not ready. What was applied before
// with the same inputs is not held back: its drift is repaired whatever the others are like.
func (b *builder) holdBack() error {
	if b.in.Unready == nil {
		return nil
	}
	reason := ""
	for i := range b.plan.Parts {
		part := &b.plan.Parts[i]
		c, rec := b.component(part.Name), b.plan.Inventory.Parts[part.Name]
		if reason != "" && (c == nil || c.Purpose == compose.Advance) && rec.Digest != part.Digest {
			b.say(part.Name, Held, reason)
		}
		if reason != "" || part.Install == nil || !isAwaited(part.Install.Name, c, rec, b.in) {
			continue
		}
		what, err := b.notReady(part)
		if err != nil {
			return err
		}
		if what != "" {
			reason = "waits until install " + part.Install.Name + " is ready, as config asks for with Wait: " + what
		}
	}
	return nil
}

// component of a part; nil where nothing is done for the part.
func (b *builder) component(part object.PartID) *compose.Component {
	for _, c := range b.plan.Components {
		if c.Name == part {
			return c
		}
	}
	return nil
}

// isAwaited reports whether what comes after an install waits for it: as its config says, or said when it was read last.
func isAwaited(install string, c *compose.Component, rec inventory.Part, in *Input) bool {
	if c != nil {
		return c.Record.Wait
	}
	if awaited, known := in.Awaited(install); known {
		return awaited
	}
	return rec.Wait
}

// notReady returns why an install is not ready; empty where it is.
func (b *builder) notReady(part *bundle.Part) (string, error) {
	if failure, failed := b.plan.Verdicts.Failure(part.Name); failed {
		return failure.Reason, nil
	}
	if b.plan.Inventory.Parts[part.Name].Digest != part.Digest {
		return "it is being applied", nil
	}
	return b.in.Unready(part.Name)
}

// checkCRDs checks each CRD that exists and is about to change. Where one is refused, nothing is applied but repairs of what was
// applied before: a module is not left between two versions.
func (b *builder) checkCRDs() {
	idx := b.plan.Inventory.Index()
	refused := ""
	for _, c := range b.plan.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			if o.Stage != object.StageCRDs || !b.changesCRD(o, idx[o.Ref]) {
				continue
			}
			en := inventory.Entry{}
			if e := idx[o.Ref]; e != nil {
				en = *e
			}
			err := b.in.CheckCRD(o, en)
			switch {
			case err == nil:
			case c.Purpose == compose.Repair:
				b.spared[o.Ref] = true
				b.say(c.Name, Spared, Why(errors.Wrapf(err, "%s: was changed, and is not put back", o.Ref)))
			default:
				b.say(c.Name, Dropped, Why(errors.Wrap(err, o.Ref.String())))
				refused = cmp.Or(refused, fmt.Sprintf("%s of %s", o.Ref, c.Title()))
			}
		}
	}
	if refused != "" {
		b.block(refused)
	}
}

// changesCRD reports whether a CRD may exist, and is about to change.
func (b *builder) changesCRD(o *object.Desired, en *inventory.Entry) bool {
	if en != nil && en.UID != "" {
		return en.Intent != o.Hash || b.repairs[o.Ref]
	}
	// It may be there from a call that was interrupted, from a bundle whose inventory was lost, or from another owner.
	_, known := b.plan.Objects[o.Ref]
	return known || b.in.MayExist(o.Ref)
}

// block all components but repairs, because a CRD is refused. A repair was applied before, and works with the CRDs that exist. What
// is blocked may want objects that the inventory does not know of.
func (b *builder) block(refused string) {
	b.plan.Components = slices.DeleteFunc(b.plan.Components, func(c *compose.Component) bool {
		if _, failed := b.plan.Verdicts.Failure(c.Name); c.Purpose == compose.Advance && !failed {
			b.say(c.Name, Blocked, fmt.Sprintf("%s waits until %s can be applied", c.Title(), refused))
		}
		return c.Purpose == compose.Advance
	})
}

// act decides what is done with each object. Nothing is pruned as long as parts may want objects that nobody knows of.
func (b *builder) act() {
	p := &b.plan
	inv := p.Inventory
	if len(p.Components) > 0 {
		inv = inv.Clone()
		Intend(inv, p.Components)
	}
	idx := inv.Index()
	for _, c := range p.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			s, exists := p.Objects[o.Ref]
			v := VerbOf(o, Facts{Entry: *idx[o.Ref], State: s, Exists: exists, Repairs: b.repairs[o.Ref], Spared: b.spared[o.Ref]})
			if v != None {
				p.Actions = append(p.Actions, ObjectAction{Part: c.Name, Ref: o.Ref, Verb: v, Drifted: b.drifted[o.Ref]})
			}
		}
	}
	incomplete := p.Verdicts.IsIncomplete()
	for _, a := range Prunes(p.Parts, inv, p.Components...) {
		if a.Verb != Prune || !incomplete {
			p.Actions = append(p.Actions, a)
		}
	}
}
