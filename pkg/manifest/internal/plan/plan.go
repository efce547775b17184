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

// A Plan is what a call on a bundle does.
type Plan struct {
	// Parts of the bundle.
	Parts []bundle.Part
	// Components of the parts that something has to be done for, in the order of the bundle.
	Components []*compose.Component
	// Inventory as it is while the plan is executed. It begins as a copy of the one in the cluster.
	Inventory *inventory.Inventory
	// Objects that exist, as far as they are known without a request.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	// Drifted are the objects that differ from what was applied, and Repairs those of them that are repaired now.
	Drifted, Repairs map[cluster.ObjectRef]bool
	// Incomplete is true where a part cannot be composed, so that the objects which it wants are not known. Nothing is pruned then.
	Incomplete bool
	// Waiting is the first reason for which something has to wait; empty for none.
	Waiting string

	statuses map[string]Status
	spared   []spared
}

// A Status says why a part is not applied, or not all of it. The zero value is that of a part that is applied.
type Status struct {
	// Err is why the part failed; nil where it did not.
	Err error
	// Waiting is what the part waits for; empty for nothing.
	Waiting string
	// Held is what the part waits for as the config of an install before it asks for; empty for nothing.
	Held string
	// Blocked is true where the part is not applied because a CRD of the bundle is refused.
	Blocked bool
}

// A spared CRD was changed by another client, and cannot be repaired now. The rest of its part is applied.
type spared struct {
	ref  cluster.ObjectRef
	part string
	err  error
}

// StatusOf a part.
func (p *Plan) StatusOf(part string) Status { return p.statuses[part] }

func (p *Plan) update(part string, change func(s *Status)) {
	if p.statuses == nil {
		p.statuses = map[string]Status{}
	}
	s := p.statuses[part]
	change(&s)
	p.statuses[part] = s
}

// Fail a part. The first error counts.
func (p *Plan) Fail(part string, err error) {
	p.update(part, func(s *Status) {
		if s.Err == nil {
			s.Err = err
		}
	})
}

// Wait with a part. The first wait is what the plan waits for.
func (p *Plan) Wait(part, reason string) {
	p.update(part, func(s *Status) { s.Waiting = reason })
	p.NoteWaiting(reason)
}

// NoteWaiting notes what the plan waits for, unless it waits for something already.
func (p *Plan) NoteWaiting(reason string) {
	if p.Waiting == "" {
		p.Waiting = reason
	}
}

// IsStopped reports whether a part failed, or waits.
func (p *Plan) IsStopped(part string) bool {
	s := p.statuses[part]
	return s.Err != nil || s.Waiting != "" || s.Held != ""
}

// IsClear reports whether no part failed or waits.
func (p *Plan) IsClear() bool {
	for name := range p.statuses {
		if p.IsStopped(name) {
			return false
		}
	}
	return p.Waiting == ""
}

// Failed returns the parts that failed, sorted by name.
func (p *Plan) Failed() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.statuses)) {
		if p.statuses[name].Err != nil {
			out = append(out, name)
		}
	}
	return out
}

// Held returns what parts wait for as the config of an install before them asks for, by part; nil for none.
func (p *Plan) Held() map[string]string {
	var out map[string]string
	for name, s := range p.statuses {
		if s.Held != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = s.Held
		}
	}
	return out
}

// NoteHeld notes the first reason for which a part is held back.
func (p *Plan) NoteHeld() {
	for i := range p.Parts {
		if reason := p.statuses[p.Parts[i].Name].Held; reason != "" {
			p.NoteWaiting(reason)
			return
		}
	}
}

// FailSpared fails the parts with CRDs that are spared. It comes last, as nothing else of these parts is held back.
func (p *Plan) FailSpared() {
	for i := range p.spared {
		p.Fail(p.spared[i].part, p.spared[i].err)
	}
}

// Drop a component that failed in a way that leaves it unknown which objects it wants.
func (p *Plan) Drop(c *compose.Component, err error) {
	p.Fail(c.Name, err)
	p.Incomplete = true
	p.Components = slices.DeleteFunc(p.Components, func(other *compose.Component) bool { return other == c })
}

// Component of a part; nil where nothing has to be done for the part.
func (p *Plan) Component(part string) *compose.Component {
	for _, c := range p.Components {
		if c.Name == part {
			return c
		}
	}
	return nil
}

// Wants reports whether the bundle has a part.
func (p *Plan) Wants(part string) bool {
	return slices.ContainsFunc(p.Parts, func(b bundle.Part) bool { return b.Name == part })
}

// WantsObject reports whether a component has an object.
func (p *Plan) WantsObject(ref cluster.ObjectRef) bool {
	return slices.ContainsFunc(p.Components, func(c *compose.Component) bool {
		return slices.ContainsFunc(c.Objects, func(o object.Desired) bool { return o.Ref == ref })
	})
}

// CRDs returns the names of the CRDs of all components.
func (p *Plan) CRDs() map[string]bool {
	out := map[string]bool{}
	for _, c := range p.Components {
		for i := range c.Objects {
			if o := &c.Objects[i]; o.Stage == object.StageCRDs {
				out[o.Ref.Name] = true
			}
		}
	}
	return out
}

// IsApplied reports whether all parts were applied with their inputs.
func (p *Plan) IsApplied() bool {
	return !slices.ContainsFunc(p.Parts, func(part bundle.Part) bool { return p.Inventory.Parts[part.Name].Digest != part.Digest })
}
