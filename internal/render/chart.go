// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"

	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
)

// A Chart is a loaded chart. It is immutable and safe for concurrent use.
type Chart struct {
	chart     *chart.Chart
	digest    string
	schemas   schemas
	templates *templates.Set
}

func newChart(c *chart.Chart, digest string) *Chart {
	return &Chart{chart: c, digest: digest, schemas: compileSchemas(c), templates: templates.Parse(c)}
}

// Name of the chart, from Chart.yaml.
func (c *Chart) Name() string { return c.chart.Metadata.Name }

// Version of the chart, from Chart.yaml.
func (c *Chart) Version() string { return c.chart.Metadata.Version }

// AppVersion of the chart, from Chart.yaml; may be empty.
func (c *Chart) AppVersion() string { return c.chart.Metadata.AppVersion }

// Metadata returns what Chart.yaml says, as JSON, as Helm writes it into the
// config of a chart in a registry.
func (c *Chart) Metadata() ([]byte, error) {
	data, err := json.Marshal(c.chart.Metadata)
	return data, errors.Wrap(err, "cannot encode Chart.yaml")
}

// Values returns a copy of the default values of the chart; those of its
// dependencies are not among them.
func (c *Chart) Values() map[string]any { return MergeValues(c.chart.Values, nil) }

// Digest of the archive (see WithDigest) or of the files, "sha256:…".
func (c *Chart) Digest() string { return c.digest }

// Pure is false when a template of the chart or of one of its dependencies
// names a function whose result may differ between two renderings. It is a
// promise about all values only for charts without tpl: give the values of the
// install to have the text checked that tpl might run. Rendered.Pure knows
// exactly, afterwards.
func (c *Chart) Pure(values ...map[string]any) bool {
	return !c.templates.Uses.Impure && !c.tplMentions(templates.MayBeImpure, values)
}

// NeedsAPIVersions reports whether a template of the chart or of one of its
// dependencies mentions .Capabilities.APIVersions, so that Options.APIVersions
// must be what the cluster serves. Values are checked as in Pure.
func (c *Chart) NeedsAPIVersions(values ...map[string]any) bool {
	return c.templates.Uses.APIVersions || c.tplMentions(templates.MayUseAPIVersions, values)
}

// tplMentions reports whether the chart uses tpl, and values, its own or those of
// an install, hold a text that tpl may run, of which may is true.
func (c *Chart) tplMentions(may func(text string) bool, values []map[string]any) bool {
	if !c.templates.Uses.TPL {
		return false
	}
	for _, v := range values {
		if valuesMention(v, may) {
			return true
		}
	}
	return chartMentions(c.chart, may)
}

func chartMentions(c *chart.Chart, may func(text string) bool) bool {
	if valuesMention(c.Values, may) {
		return true
	}
	return slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return chartMentions(d, may) })
}

// valuesMention reports whether there is such a text below v.
func valuesMention(v any, may func(text string) bool) bool {
	switch t := v.(type) {
	case string:
		return may(t)
	case []any:
		return slices.ContainsFunc(t, func(e any) bool { return valuesMention(e, may) })
	case map[string]any:
		for _, e := range t {
			if valuesMention(e, may) {
				return true
			}
		}
	}
	return false
}

// instance returns a copy of the chart that Helm may change: it rewrites
// metadata and default values for the dependencies that are switched on. Files,
// templates and schemas are shared, they are only read.
func instance(c *chart.Chart) *chart.Chart {
	md := *c.Metadata
	// Helm tells a chart without dependencies by nil.
	md.Dependencies = slices.Clone(c.Metadata.Dependencies)
	for i, d := range md.Dependencies {
		dep := *d
		dep.ImportValues = slices.Clone(d.ImportValues)
		md.Dependencies[i] = &dep
	}

	out := &chart.Chart{
		Metadata:  &md,
		Lock:      c.Lock,
		Templates: c.Templates,
		Values:    c.Values, // Helm replaces this map, and copies before it merges.
		Schema:    c.Schema,
		Files:     c.Files,
	}
	for _, d := range c.Dependencies() {
		out.AddDependency(instance(d))
	}
	return out
}
