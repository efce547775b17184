// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// missing reports whether an object of a component is not as desired. The reason names the first such object.
func (p *progress) missing(c *compose.Component) (reason string, missing bool) {
	idx := p.inventory.Index()
	for i := range c.Objects {
		o := &c.Objects[i]
		if en := idx[o.Ref]; en.UID == "" || en.Intent != o.Hash {
			return o.Ref.String() + ": " + untilCreated(en, p.objects[o.Ref]), true
		}
	}
	return "", false
}

// untilCreated returns the reason why an object that is being deleted and will be created again has to wait. If the object has a
// UID in the inventory, another client deleted it.
func untilCreated(en *inventory.Entry, s cluster.ObjectState) string {
	reason := cmp.Or(s.Message, "is being deleted")
	if en.UID != "" {
		return reason
	}
	return "is being recreated: " + reason
}

// awaitCRDs returns decisions for the components that have to wait until the API server serves their kinds: the kinds of their own
// CRDs, of the CRDs of the bundle, and of CRDs of other parts. The function latest returns the latest known state of an object.
func (p *progress) awaitCRDs(latest func(ref cluster.ObjectRef) (cluster.ObjectState, bool)) plan.Decisions {
	var out plan.Decisions
	for i := range p.inventory.Objects {
		en := &p.inventory.Objects[i]
		if en.Stage != object.StageCRDs || en.UID == "" || en.Pruned {
			continue
		}
		s, known := latest(en.Ref())
		if !known {
			s, known = p.objects[en.Ref()]
		}
		if !known || s.Status == cluster.Current {
			continue
		}
		for _, c := range p.components {
			if !p.decisions.Stop(c.Name) && !out.Stop(c.Name) && c.Needs(en) {
				out = append(out, plan.Decision{Part: c.Name, Hindrance: plan.Waiting, Reason: en.Ref().String() + ": " + cmp.Or(s.Message, "is not established")})
			}
		}
	}
	return out
}

// awaitInstalls returns decisions for the installs that have to wait for an object, and for the custom resource of the bundle if
// it has to wait for the installs: its kind is served only once all installs are applied.
func (p *progress) awaitInstalls() plan.Decisions {
	var out plan.Decisions
	for _, c := range p.components {
		if c.Install == nil || p.decisions.Stop(c.Name) {
			continue
		}
		if reason, missing := p.missing(c); missing {
			out = append(out, plan.Decision{Part: c.Name, Hindrance: plan.Waiting, Reason: reason})
		}
	}
	all := slices.Concat(p.decisions, out)
	for _, c := range p.components {
		if c.Resource == nil || all.Stop(c.Name) {
			continue
		}
		for i := range p.plan.Parts {
			if part := &p.plan.Parts[i]; part.Resource == nil && all.Stop(part.Name) {
				reason := fmt.Sprintf("%s is waiting for %s to be applied", c.Name, part.Name)
				out = append(out, plan.Decision{Part: c.Name, Hindrance: plan.Waiting, Reason: reason})
				break
			}
		}
	}
	return out
}
