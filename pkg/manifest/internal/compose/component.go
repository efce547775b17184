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

// A Purpose says what the objects of a component are applied for. It is independent of the operation of the next revision: a repair
// applies the objects of a revision that was once an upgrade.
type Purpose string

// The purposes.
const (
	// Advance means that other inputs were applied before, or none.
	Advance Purpose = "Advance"
	// Repair means that these inputs were applied before: the same objects as then are wanted.
	Repair Purpose = "Repair"
)

// PurposeOf returns the purpose of a part, of which the inventory has a record.
func PurposeOf(p *bundle.Part, rec *inventory.Part) Purpose {
	if rec.Digest == p.Digest {
		return Repair
	}
	return Advance
}

// A Component is a part that has been rendered.
type Component struct {
	*bundle.Part

	// Installation is the install as the config of the bundle says it is; nil for other parts.
	Installation *Installation
	Objects      []object.Desired
	// Record is what the inventory says of the part while it is applied.
	Record inventory.Part
	// Purpose that the objects are applied for.
	Purpose Purpose
	// Desired is the release that the part is to have; the zero value for a part that has none.
	Desired release.Desired
	// Next is the revision of the release that is installed; the zero value for a part that has no release.
	Next release.Next
	// Chart and Rendered are set for charts.
	Chart    *render.Chart
	Rendered *render.Rendered
	// Hooks of the chart, if some of them run while it is applied; nil for none.
	Hooks []record.Hook
}

// hooksToRun returns the hooks of the chart if some of them run while it is applied, else nil. None run to repair drift, nor to
// restore an inventory that was lost.
func (c *Component) hooksToRun() []record.Hook {
	if !c.Next.RunsHooks() || c.Installation.Config.DisableHooks {
		return nil
	}
	return c.Next.Operation.Hooks(c.Rendered.Hooks)
}

// CountHooks returns how many hooks run for the component.
func (c *Component) CountHooks() int { return c.Next.Operation.Count(c.Hooks) }

// NoteHooks records the hooks that must be known without the chart, which must be rendered.
func (c *Component) NoteHooks(r *inventory.Part) {
	hook.Note(r, c.Rendered.Hooks, c.Installation.Config.DisableHooks)
}

// Needs reports whether the component must not be applied before a CRD is established.
func (c *Component) Needs(crd *inventory.Entry) bool {
	if crd.Part.Kind() == object.PartKindCRDs || crd.Part == c.Name {
		return true
	}
	return slices.ContainsFunc(c.Objects, func(o object.Desired) bool { return o.CRD == crd.Name })
}
