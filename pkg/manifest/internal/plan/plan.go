// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Plan describes what a call on a bundle does. Build creates it, and nothing changes it afterwards.
type Plan struct {
	// Parts lists the parts of the bundle.
	Parts []bundle.Part
	// Components lists the components of the parts to process, in the order of the bundle. A component may also have a decision, for
	// example Held.
	Components []*compose.Component
	// Inventory is the inventory in the cluster, or an empty one.
	Inventory *inventory.Inventory
	// Objects holds the states of the existing objects, as far as they are known without a request.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	// Actions lists the actions on the objects of the components, in their order, followed by the actions on objects that the bundle
	// no longer contains.
	Actions []ObjectAction
	// Decisions lists the decisions on the parts.
	Decisions Decisions
}

// An ObjectAction describes what to do with one object.
type ObjectAction struct {
	// Part is the part that contains the object before the action.
	Part object.PartID
	Ref  cluster.ObjectRef
	Verb Verb
	// Drifted is true if the object of a component differs from its applied state.
	Drifted bool
	// Heir is the part that receives the object of a HandOver.
	Heir object.PartID
}

// String returns the action on one line.
func (a *ObjectAction) String() string {
	out := fmt.Sprintf("%s: %s %s", a.Part, a.Verb, a.Ref)
	if a.Verb == HandOver {
		out += " to " + a.Heir.String()
	}
	return out
}

// Wants reports whether the bundle contains a part.
func (p *Plan) Wants(part object.PartID) bool {
	return wants(p.Parts, part)
}

func wants(parts []bundle.Part, part object.PartID) bool {
	return slices.ContainsFunc(parts, func(b bundle.Part) bool { return b.Name == part })
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

// String returns one line for each decision and one for each action.
func (p *Plan) String() string {
	var b strings.Builder
	for _, v := range p.Decisions {
		fmt.Fprintf(&b, "%s: %s: %s\n", v.Part, v.Hindrance, v.Reason)
	}
	for i := range p.Actions {
		fmt.Fprintln(&b, &p.Actions[i])
	}
	return b.String()
}
