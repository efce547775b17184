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

// A Plan is what a call on a bundle does. Build makes it, and nothing changes it afterwards.
type Plan struct {
	// Parts of the bundle.
	Parts []bundle.Part
	// Components of the parts that something has to be done for, in the order of the bundle. A component may have a verdict all the same.
	Components []*compose.Component
	// Inventory in the cluster; an empty one where there is none.
	Inventory *inventory.Inventory
	// Objects that exist, as far as they are known without a request.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	// Drifted are the objects that differ from what was applied, and Repairs those of them that are repaired now.
	Drifted, Repairs map[cluster.ObjectRef]bool
	// Spared are the CRDs that are to be repaired, and cannot be now.
	Spared map[cluster.ObjectRef]bool
	// Verdicts on the parts.
	Verdicts Verdicts
}

// Wants reports whether the bundle has a part.
func (p *Plan) Wants(part object.PartID) bool {
	return slices.ContainsFunc(p.Parts, func(b bundle.Part) bool { return b.Name == part })
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

// String returns a line for each verdict, and one for each object that something is done with.
func (p *Plan) String() string {
	var b strings.Builder
	for _, v := range p.Verdicts {
		fmt.Fprintf(&b, "%s: %s: %s\n", v.Part, v.State, v.Reason)
	}
	idx := p.Inventory.Index()
	for _, c := range p.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			s, exists := p.Objects[o.Ref]
			f := Facts{Entry: Intend(c, o, idx[o.Ref]), State: s, Exists: exists, Repairs: p.Repairs[o.Ref], Spared: p.Spared[o.Ref]}
			if v := VerbOf(o, f); v != None {
				fmt.Fprintf(&b, "%s: %s %s\n", c.Title(), v, o.Ref)
			}
		}
	}
	return b.String()
}
