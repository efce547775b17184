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

// Composed is what became of the parts that are due.
type Composed struct {
	// Components of the parts, and why the other parts cannot be composed.
	Components map[object.PartID]*compose.Component
	Errors     map[object.PartID]error
	// Waits are the installs of which the config is known, and whether what comes after them waits for them.
	Waits map[object.PartID]bool
}

// A Draft is a plan before it is known which installs are ready and which CRDs are refused.
type Draft struct {
	*Selection

	// Components in the order of the bundle, each with the objects that are its own.
	Components []*compose.Component
	Verdicts   Verdicts

	// waits is that of Composed.
	waits map[object.PartID]bool
}

// Assign each object that was composed to one part. An object of two parts is an error of the later one, except for CRDs, which often
// come with several charts: as in Helm, the first one counts.
func Assign(s *Selection, composed Composed) *Draft {
	d := &Draft{Selection: s, Verdicts: unplanned(s, composed), waits: composed.Waits}
	owner := map[cluster.ObjectRef]object.PartID{}
	for i := range s.Inventory.Objects {
		// A part that is planned may have given an object away, and one that is no longer wanted has.
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
		if err != nil {
			d.Verdicts = append(d.Verdicts, Fail(c.Name, Dropped, err))
			continue
		}
		for n := range own.Objects {
			owner[own.Objects[n].Ref] = c.Name
		}
		d.Components = append(d.Components, own)
	}
	return d
}

// unplanned returns the verdicts on the parts that are stuck, and on those that cannot be composed.
func unplanned(s *Selection, composed Composed) Verdicts {
	var out Verdicts
	for i := range s.Parts {
		name := s.Parts[i].Name
		if why, stuck := s.Stuck[name]; stuck {
			out = append(out, Verdict{Part: name, State: Failed, Reason: text.OneLine(why)})
		}
		if err := composed.Errors[name]; err != nil {
			out = append(out, Fail(name, Dropped, err))
		}
	}
	return out
}

// withOwn returns a component with those of its objects that belong to no other part. Its record has the CRDs that it shares.
func withOwn(c *compose.Component, owner map[cluster.ObjectRef]object.PartID) (*compose.Component, error) {
	out := *c
	out.Objects, out.Record.Shared = make([]object.Desired, 0, len(c.Objects)), nil
	for i := range c.Objects {
		o := &c.Objects[i]
		other := owner[o.Ref]
		switch {
		case other == "", other == c.Name:
			out.Objects = append(out.Objects, *o)
		case o.Stage == object.StageCRDs:
			out.Record.Shared = append(out.Record.Shared, o.Ref.Name)
		default:
			return nil, errors.Errorf("%s is part of %s too", o.Ref, other)
		}
	}
	slices.Sort(out.Record.Shared)
	return &out, nil
}

// component of a part; nil where nothing is done for the part.
func (d *Draft) component(part object.PartID) *compose.Component {
	for _, c := range d.Components {
		if c.Name == part {
			return c
		}
	}
	return nil
}
