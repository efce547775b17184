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
	// Retry is the token of the bundle.
	Retry string
	Now   time.Time

	// Compose a part with the record that the inventory has of it.
	Compose func(p *bundle.Part, rec inventory.Part) (*compose.Component, error)
	// Awaited reports whether the config says that what comes after an install waits for it, and whether the config is known.
	Awaited func(install string) (awaited, known bool)
	// Unready returns the first object of an install that is not ready, and why; empty where all are. With nil no part is held back.
	Unready func(install string) (string, error)
	// MayExist reports whether an object may exist that the inventory does not know of.
	MayExist func(ref cluster.ObjectRef) bool
	// CheckCRD returns why a CRD that exists must not become the desired one.
	CheckCRD func(o *object.Desired, en inventory.Entry) error
}

// Build a plan. The error is that of Unready; errors of parts are in the plan.
func Build(in Input) (*Plan, error) {
	p := &Plan{
		Parts: in.Parts, Inventory: &inventory.Inventory{Parts: map[string]inventory.Part{}}, Objects: map[cluster.ObjectRef]cluster.ObjectState{},
	}
	if in.Inventory != nil {
		p.Inventory, p.Objects = in.Inventory.Clone(), in.Objects
	}
	p.Drifted = FindDrifted(p.Inventory, p.Objects, in.Denied, in.Now)
	p.Repairs = repairs(p.Drifted, &in)
	p.compose(&in)
	p.assignOwners()
	if err := p.holdBack(&in); err != nil {
		return p, err
	}
	p.checkCRDs(&in)
	return p, nil
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
func (p *Plan) compose(in *Input) {
	for i := range p.Parts {
		part := &p.Parts[i]
		rec := p.Inventory.Parts[part.Name]
		unfinished := p.isUnfinished(part.Name)
		if rec.Digest == part.Digest && !unfinished {
			continue
		}
		if why := rec.Stuck(part.Digest, in.Retry); why != "" && (!rec.Run.IsPost() || !unfinished) {
			p.Fail(part.Name, errors.New(why))
			continue
		}
		c, err := in.Compose(part, rec)
		if err != nil {
			p.Fail(part.Name, err)
			p.Incomplete = true
			continue
		}
		p.Components = append(p.Components, c)
	}
}

// isUnfinished reports whether an object of a part is to be repaired, or was never applied. Those that are pruned need no plan.
func (p *Plan) isUnfinished(part string) bool {
	return slices.ContainsFunc(p.Inventory.Objects, func(en inventory.Entry) bool {
		return en.Part == part && !en.Pruned && (p.Repairs[en.Ref()] || en.UID == "")
	})
}

// holdBack the parts that come after an install whose config says Wait, as long as that one is not ready. What was applied before
// with the same inputs is not held back: its drift is repaired whatever the others are like.
func (p *Plan) holdBack(in *Input) error {
	if in.Unready == nil {
		return nil
	}
	reason := ""
	for i := range p.Parts {
		part := &p.Parts[i]
		c, rec := p.Component(part.Name), p.Inventory.Parts[part.Name]
		if reason != "" && (c == nil || !c.Repair) && rec.Digest != part.Digest {
			p.update(part.Name, func(s *Status) { s.Held = reason })
		}
		if reason != "" || part.Install == nil || !isAwaited(part.Name, c, rec, in) {
			continue
		}
		what, err := p.notReady(part, in)
		if err != nil {
			return err
		}
		if what != "" {
			reason = "waits until install " + part.Name + " is ready, as config asks for with Wait: " + what
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
func (p *Plan) notReady(part *bundle.Part, in *Input) (string, error) {
	if err := p.StatusOf(part.Name).Err; err != nil {
		return text.OneLine(err.Error()), nil
	}
	if p.Inventory.Parts[part.Name].Digest != part.Digest {
		return "it is being applied", nil
	}
	return in.Unready(part.Name)
}

// checkCRDs checks each CRD that exists and is about to change. Where one is refused, nothing is applied but repairs of what was
// applied before: a module is not left between two versions.
func (p *Plan) checkCRDs(in *Input) {
	idx := p.Inventory.Index()
	refused := ""
	for _, c := range p.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			if o.Stage != object.StageCRDs || !p.changesCRD(o, idx[o.Ref], in) {
				continue
			}
			en := inventory.Entry{}
			if e := idx[o.Ref]; e != nil {
				en = *e
			}
			err := in.CheckCRD(o, en)
			switch {
			case err == nil:
			case c.Repair:
				p.spared = append(p.spared, spared{ref: o.Ref, part: o.Part, err: errors.Wrapf(err, "%s: was changed, and is not put back", o.Ref)})
			default:
				p.Fail(c.Name, errors.Wrap(err, o.Ref.String()))
				refused = cmp.Or(refused, fmt.Sprintf("%s of %s", o.Ref, c.Title()))
			}
		}
	}
	if refused != "" {
		p.block(refused)
	}
}

// changesCRD reports whether a CRD may exist, and is about to change.
func (p *Plan) changesCRD(o *object.Desired, en *inventory.Entry, in *Input) bool {
	if en != nil && en.UID != "" {
		return en.Intent != o.Hash || p.Repairs[o.Ref]
	}
	// It may be there from a call that was interrupted, from a bundle whose inventory was lost, or from another owner.
	_, known := p.Objects[o.Ref]
	return known || in.MayExist(o.Ref)
}

// block all components but repairs, because a CRD is refused. A repair was applied before, and works with the CRDs that exist.
func (p *Plan) block(refused string) {
	// What cannot be applied may want objects that the inventory does not know of.
	p.Incomplete = true
	p.Components = slices.DeleteFunc(p.Components, func(c *compose.Component) bool {
		if c.Repair {
			return false
		}
		if p.StatusOf(c.Name).Err == nil {
			p.update(c.Name, func(s *Status) { s.Blocked = true })
			p.NoteWaiting(fmt.Sprintf("%s waits until %s can be applied", c.Title(), refused))
		}
		return true
	})
}
