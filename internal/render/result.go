// SPDX-License-Identifier: Apache-2.0

package render

import (
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
)

// Details contains the content of a Rendered except for its objects, in a form that another process can send as JSON.
type Details struct {
	Pure     bool            `json:"pure,omitempty"`
	Notes    string          `json:"notes,omitempty"`
	Manifest string          `json:"manifest,omitempty"`
	Hooks    []*release.Hook `json:"hooks,omitempty"`

	// Metadata and Values are the metadata and the values of the chart, after its dependencies have been enabled and disabled.
	Metadata *chart.Metadata `json:"metadata"`
	Values   map[string]any  `json:"values,omitempty"`
}

// Details returns the details of a result of Render.
func (r *Rendered) Details() Details {
	c := r.release.Chart
	return Details{
		Pure: r.Pure, Notes: r.Notes, Manifest: r.release.Manifest, Hooks: r.release.Hooks,
		Metadata: c.Metadata, Values: c.Values,
	}
}

// Rendered returns the result of rendering the chart in another process with the same options. The caller adds the
// objects.
func (c *Chart) Rendered(o Options, d Details) *Rendered {
	inst := *c.chart
	inst.Values = d.Values
	if d.Metadata != nil {
		inst.Metadata = d.Metadata
	}
	rel := &release.Release{
		Name: o.ReleaseName, Namespace: o.Namespace, Config: o.config(), Chart: &inst, Manifest: d.Manifest, Hooks: d.Hooks,
		Info: &release.Info{Notes: d.Notes},
	}
	out := &Rendered{Pure: d.Pure, Notes: d.Notes, Draft: record.NewDraft(rel), release: rel}
	out.Hooks = out.Draft.Hooks()
	return out
}

// Files returns the files of the chart, with its dependencies unpacked. The caller must not change them. Loading them with Load
// results in the same chart.
func (c *Chart) Files() []input.File {
	out := make([]input.File, len(c.chart.Raw))
	for i, f := range c.chart.Raw {
		out[i] = input.File{Name: f.Name, Data: f.Data}
	}
	return out
}
