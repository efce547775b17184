// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// A Purpose is the reason for applying the objects of a component. It is independent of the operation of the next revision: a
// repair applies the objects of a revision that may have been an upgrade.
type Purpose string

// Purposes.
const (
	// Advance means that other inputs were applied before, or none.
	Advance Purpose = "Advance"
	// Repair means that these inputs were applied before. The same objects are desired again.
	Repair Purpose = "Repair"
)

// PurposeOf returns the purpose of applying a part, given its record in the inventory.
func PurposeOf(p *bundle.Part, rec *inventory.Part) Purpose {
	if rec.Digest == p.Digest {
		return Repair
	}
	return Advance
}

// A Component is a rendered part.
type Component struct {
	*bundle.Part

	// Installation is the install with the settings of the bundle's config; nil for other parts.
	Installation *Installation
	Objects      []object.Desired
	// Record is the inventory's record of the part while it is being applied.
	Record inventory.Part
	// Purpose of applying the objects.
	Purpose Purpose
	// Desired is the release that the part should have; the zero value if it has none.
	Desired release.Wanted
	// Next is the revision of the release that is being installed; the zero value for a part without a release.
	Next release.Next
	// Chart and Rendered are set for charts.
	Chart    *render.Chart
	Rendered *render.Rendered
	// Hooks of the chart if any of them run while it is applied; otherwise nil.
	Hooks []record.Hook
}

// hooksToRun returns the hooks of the chart if any of them run while it is applied, and nil otherwise. No hooks run to repair
// drift, or to restore an inventory that was lost.
func (c *Component) hooksToRun() []record.Hook {
	if !c.Next.RunsHooks() || c.Installation.Config.DisableHooks {
		return nil
	}
	return c.Next.Operation.Hooks(c.Rendered.Hooks)
}

// CountHooks returns the number of hooks that run for the component.
func (c *Component) CountHooks() int { return c.Next.Operation.Count(c.Hooks) }

// NoteHooks records what must be known about hooks without the chart. The chart must be rendered.
func (c *Component) NoteHooks(r *inventory.Part) {
	hook.Note(r, c.Rendered.Hooks, c.Installation.Config.DisableHooks)
}

// Needs reports whether the component has to wait until a CRD is established.
func (c *Component) Needs(crd *inventory.Entry) bool {
	if crd.Part.Kind() == object.PartKindCRDs || crd.Part == c.Name {
		return true
	}
	return slices.ContainsFunc(c.Objects, func(o object.Desired) bool { return o.CRD == crd.Name })
}
