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
	// Advance means that the part was last applied with other inputs, or never.
	Advance Purpose = "Advance"
	// Repair means that the part was last applied with the same inputs, so the desired objects are the same.
	Repair Purpose = "Repair"
	// Decorate means that the part was last applied with the same inputs, except for the labels of the bundle. The labels of
	// the objects are updated, but no hook runs and no revision is installed.
	Decorate Purpose = "Decorate"
)

// Restores reports whether the purpose is to repair or decorate the applied objects, so that no objects are added or given up.
func (p Purpose) Restores() bool { return p == Repair || p == Decorate }

// PurposeOf returns the purpose of applying a part, given its record in the inventory.
func PurposeOf(p *bundle.Part, rec *inventory.Part) Purpose {
	switch {
	case rec.Digest == p.Digest:
		return Repair
	case rec.Applied().SharesContent(p.Inputs()):
		return Decorate
	}
	return Advance
}

// A Component is a rendered part.
type Component struct {
	*bundle.Part

	// Installation is the install with the settings of the bundle's config. It is nil for other parts.
	Installation *Installation
	Objects      []object.Desired
	// Record is the record of the part in the inventory while the part is being applied.
	Record inventory.Part
	// Purpose is the reason for applying the objects.
	Purpose Purpose
	// Desired is the release that the part should have, or the zero value if it has none.
	Desired release.Wanted
	// Next is the revision of the release that is being installed, or the zero value for a part without a release.
	Next release.Next
	// Chart and Rendered are set for charts.
	Chart    *render.Chart
	Rendered *render.Rendered
	// NamespaceMetadata contains the labels and annotations that the part sets on the namespace of the inventories. It can be nil.
	NamespaceMetadata *NamespaceMetadata
	// Hooks contains the hooks of the chart if any of them run while it is applied. Otherwise, it is nil, or empty if the revision must
	// be recorded before any object is applied, because the chart renders differently each time.
	Hooks []record.Hook
	// Capabilities are the capabilities that the chart used. Recorded is true if the objects are taken from the release record
	// even though the chart always renders the same objects.
	Capabilities Capabilities
	Recorded     bool
	// Continued is true if the objects are the recorded ones of a revision whose hooks have not finished. Other capabilities may have
	// been used to render them.
	Continued bool
	// OwnNamespaces contains the namespaces that the bundle contains. They are created only as its objects.
	OwnNamespaces map[string]bool
}

// NamespaceMetadata contains the labels and annotations that a part sets on the namespace of the inventories. Many modules contain this
// namespace, but it belongs to no bundle: it gets the labels and annotations of all modules, and is never pruned or deleted.
type NamespaceMetadata struct {
	Name                string
	Labels, Annotations map[string]string
}

// IsEmpty reports whether there is nothing to set. It can be called on nil.
func (m *NamespaceMetadata) IsEmpty() bool {
	return m == nil || len(m.Labels) == 0 && len(m.Annotations) == 0
}

// hooksToRun returns the value of Hooks. No hooks run if drift is repaired, or if a lost inventory is restored.
func (c *Component) hooksToRun() []record.Hook {
	if !c.Next.RunsHooks() {
		return nil
	}
	var out []record.Hook
	if !c.Installation.Config.DisableHooks {
		out = c.Next.Operation.Hooks(c.Rendered.Hooks)
	}
	if out == nil && !c.Rendered.Pure {
		out = []record.Hook{}
	}
	return out
}

// CountHooks returns the number of hooks that run for the component.
func (c *Component) CountHooks() int { return c.Next.Operation.Count(c.Hooks) }

// NoteHooks records the facts about hooks that must be known without the chart. The chart must be rendered.
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

// isOutdated reports whether a chart now uses other capabilities than the stored ones, and its objects are not those of a release record.
func (c *Component) isOutdated(rec inventory.Part) bool {
	changed := rec.Capabilities != "" && rec.Capabilities != string(c.Capabilities)
	return changed && (c.Purpose == Repair || c.Rendered.Pure && !c.Recorded)
}
