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

// Name returns the name of the chart, from Chart.yaml.
func (c *Chart) Name() string { return c.chart.Metadata.Name }

// Version returns the version of the chart, from Chart.yaml.
func (c *Chart) Version() string { return c.chart.Metadata.Version }

// AppVersion returns the app version of the chart, from Chart.yaml; it may be empty.
func (c *Chart) AppVersion() string { return c.chart.Metadata.AppVersion }

// Metadata returns the content of Chart.yaml as JSON, as Helm writes it into the config of a chart in a registry.
func (c *Chart) Metadata() ([]byte, error) {
	data, err := json.Marshal(c.chart.Metadata)
	return data, errors.Wrap(err, "cannot encode Chart.yaml")
}

// Values returns a copy of the default values of the chart, without those of its dependencies.
func (c *Chart) Values() map[string]any { return MergeValues(c.chart.Values, nil) }

// Digest returns the digest of the archive (see WithDigest) or of the files, "sha256:…".
func (c *Chart) Digest() string { return c.digest }

// Pure reports whether no template of the chart or of its dependencies names a function whose result may differ
// between two renderings. It covers all values only for charts without tpl: pass the values of the install to check
// the text that tpl might execute as well. After rendering, Rendered.Pure is exact.
func (c *Chart) Pure(values ...map[string]any) bool {
	return !c.templates.Uses.Impure && !c.tplMentions(templates.MayBeImpure, values)
}

// NeedsAPIVersions reports whether a template of the chart or of one of its dependencies mentions
// .Capabilities.APIVersions, so that Options.APIVersions must list the API versions of the cluster. It checks values
// like Pure.
func (c *Chart) NeedsAPIVersions(values ...map[string]any) bool {
	return c.templates.Uses.APIVersions || c.tplMentions(templates.MayUseAPIVersions, values)
}

// NeedsKubeVersion reports whether a template of the chart or of one of its dependencies mentions .Capabilities.KubeVersion. It
// also checks the values, in the same way as Pure.
func (c *Chart) NeedsKubeVersion(values ...map[string]any) bool {
	return c.templates.Uses.KubeVersion || c.tplMentions(templates.MayUseKubeVersion, values)
}

// tplMentions reports whether the chart uses tpl, and values or the chart's own values contain a text for which may
// returns true.
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

// valuesMention reports whether v contains a text for which may returns true.
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

// instance returns a copy of the chart that Helm may change: Helm rewrites metadata and default values for the
// enabled dependencies. The copy shares files, templates and schemas, which are only read.
func instance(c *chart.Chart) *chart.Chart {
	md := *c.Metadata
	// Helm expects nil for a chart without dependencies.
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
		Values:    c.Values, // Helm replaces this map, and copies it before merging.
		Schema:    c.Schema,
		Files:     c.Files,
	}
	for _, d := range c.Dependencies() {
		out.AddDependency(instance(d))
	}
	return out
}
