// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Composed is the result of composing the parts that are due.
type Composed struct {
	// Components holds the components by part, and Errors the errors of the parts that cannot be composed.
	Components map[object.PartID]*compose.Component
	Errors     map[object.PartID]error
	// Waits maps each install with a known config to whether the following parts wait for it.
	Waits map[object.PartID]bool
}

// A Draft is a plan before the caller has determined which installs are ready and which CRDs are refused.
type Draft struct {
	*Selection

	// Components lists the components in the order of the bundle, each with its own objects only.
	Components []*compose.Component
	Decisions  Decisions

	// waits is Composed.Waits.
	waits map[object.PartID]bool
}

// Assign assigns each composed object to one part, and returns the resulting Draft. If two parts contain an object, the later
// part fails. CRDs are an exception, because several charts often contain the same one: as in Helm, the first part owns it.
func Assign(s *Selection, composed Composed) *Draft {
	d := &Draft{Selection: s, Decisions: unplanned(s, composed), waits: composed.Waits}
	owner := map[cluster.ObjectRef]object.PartID{}
	for i := range s.Inventory.Objects {
		// A planned part may no longer contain the object. A part that is not in the bundle does not contain it.
		en := &s.Inventory.Objects[i]
		if planned := composed.Components[en.Part] != nil; !en.Pruned && !planned && wants(s.Parts, en.Part) {
			owner[en.Ref()] = en.Part
		}
	}
	for i := range s.Parts {
		c := composed.Components[s.Parts[i].Name]
		if c == nil {
			continue
		}
		own, err := withOwn(c, owner)
		if err == nil && c.Purpose.Restores() {
			var v Decisions
			own, v = withKnown(own, s)
			d.Decisions = append(d.Decisions, v...)
		}
		if err != nil {
			d.Decisions = append(d.Decisions, Fail(c.Name, Dropped, err))
			continue
		}
		for n := range own.Objects {
			owner[own.Objects[n].Ref] = c.Name
		}
		d.Components = append(d.Components, own)
	}
	markOwnNamespaces(d.Components, owner)
	return d
}

// markOwnNamespaces sets the namespaces that the bundle contains, and marks the objects in them.
func markOwnNamespaces(components []*compose.Component, owner map[cluster.ObjectRef]object.PartID) {
	own := map[string]bool{}
	for ref := range owner {
		if ref == (cluster.ObjectRef{Kind: "Namespace", Name: ref.Name}) {
			own[ref.Name] = true
		}
	}
	for _, c := range components {
		c.OwnNamespaces = own
		for i := range c.Objects {
			c.Objects[i].OwnNamespace = own[c.Objects[i].Ref.Namespace]
		}
	}
}

// unplanned returns the decisions on parts whose hook failed and on parts that cannot be composed.
func unplanned(s *Selection, composed Composed) Decisions {
	var out Decisions
	for i := range s.Parts {
		name := s.Parts[i].Name
		if why, failed := s.HookFailures[name]; failed {
			out = append(out, Decision{Part: name, Hindrance: Failed, Reason: text.OneLine(why)})
		}
		if err := composed.Errors[name]; err != nil {
			out = append(out, Fail(name, Dropped, err))
		}
	}
	return out
}

// withOwn returns a component without the objects that belong to other parts. The record of the component lists the CRDs that it
// shares.
func withOwn(c *compose.Component, owner map[cluster.ObjectRef]object.PartID) (*compose.Component, error) {
	out := *c
	out.Objects, out.Record.Shared = make([]object.Desired, 0, len(c.Objects)), nil
	for i := range c.Objects {
		o := &c.Objects[i]
		other, owned := owner[o.Ref]
		switch {
		case !owned, other == c.Name:
			out.Objects = append(out.Objects, *o)
		case o.Stage == object.StageCRDs:
			out.Record.Shared = append(out.Record.Shared, o.Ref.Name)
		default:
			return nil, errors.Errorf("%s is also part of %s", o.Ref, other)
		}
	}
	slices.Sort(out.Record.Shared)
	return &out, nil
}

// withKnown reduces the component of a repair, or of a change of labels, to the objects in the inventory. A CRD of another part stays
// with that part: the record of the component lists it. A repair contains only objects that would be applied in the same form as
// before. It is a failure if an object that needs a repair is not among them.
func withKnown(c *compose.Component, s *Selection) (*compose.Component, Decisions) {
	idx := s.Inventory.Index()
	var failed Decisions
	c.Objects = slices.DeleteFunc(c.Objects, func(o object.Desired) bool {
		en := idx[o.Ref]
		_, exists := s.Objects[o.Ref]
		switch {
		case en == nil, en.IsExpired(exists):
			return true
		case o.Stage == object.StageCRDs && en.Part != c.Name && !en.Pruned:
			c.Record.Shared = append(c.Record.Shared, o.Ref.Name)
			return true
		case c.Purpose != compose.Repair || en.Intent == "" || en.Intent == o.Hash:
			return false
		case s.Repairs[o.Ref]:
			failed = append(failed, Fail(c.Name, Spared, errors.Errorf("%s: drift is not repaired, because the module now "+
				"renders differently; change a value to install the module again", o.Ref)))
		}
		return true
	})
	slices.Sort(c.Record.Shared)
	return c, failed
}

// component returns the component of a part, or nil if the plan does not process the part.
func (d *Draft) component(part object.PartID) *compose.Component {
	for _, c := range d.Components {
		if c.Name == part {
			return c
		}
	}
	return nil
}
