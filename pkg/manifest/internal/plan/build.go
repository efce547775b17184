// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
)

// Build builds the plan from a draft. Hold is the install that the following parts wait for, or nil. Refused holds the reasons
// for the CRDs that must not change.
func Build(d *Draft, hold *Hold, refused map[cluster.ObjectRef]error) *Plan {
	refusals, blocks := d.refusals(refused)
	p := &Plan{
		Parts: d.Parts, Components: d.Components, Inventory: d.Inventory, Objects: d.Objects,
		Decisions: slices.Concat(d.Decisions, d.heldBack(hold), refusals),
	}
	if blocks {
		p.Components = slices.DeleteFunc(slices.Clone(d.Components), func(c *compose.Component) bool { return c.Purpose == compose.Advance })
	}
	p.Actions = actionsOf(p, d.Selection, refused)
	return p
}

// actionsOf returns the actions of a plan that is otherwise complete. It prunes nothing while the objects of a part are unknown.
func actionsOf(p *Plan, s *Selection, refused map[cluster.ObjectRef]error) []ObjectAction {
	inv := p.Inventory
	if len(p.Components) > 0 {
		inv = inv.Clone()
		Intend(inv, p.Components)
	}
	var out []ObjectAction
	idx := inv.Index()
	for _, c := range p.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			state, exists := p.Objects[o.Ref]
			// A component that is not blocked skips the refused CRDs.
			f := Facts{Entry: *idx[o.Ref], State: state, Exists: exists, Repairs: s.Repairs[o.Ref], Spared: refused[o.Ref] != nil}
			if v := VerbOf(o, f); v != None {
				out = append(out, ObjectAction{Part: c.Name, Ref: o.Ref, Verb: v, Drifted: s.Drifted[o.Ref]})
			}
		}
	}
	incomplete := p.Decisions.IsIncomplete()
	for _, a := range Prunes(p.Parts, inv, p.Components...) {
		if a.Verb != Prune || !incomplete {
			out = append(out, a)
		}
	}
	return out
}
