// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
)

// A Chart is a loaded chart. It is immutable and safe for concurrent use. Nothing in it is executed or compiled before
// it is rendered, because only a child process renders the charts of others.
type Chart struct {
	chart  *chart.Chart
	digest string
	// Whether its templates, or texts in its values, use fields of the capabilities.
	apiVersions, kubeVersion bool
}

func newChart(c *chart.Chart, digest string) *Chart {
	return &Chart{chart: c, digest: digest, apiVersions: chartUses(c, usesAPIVersions), kubeVersion: chartUses(c, usesKubeVersion)}
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

// NeedsAPIVersions reports whether a template of the chart or of one of its dependencies uses
// .Capabilities.APIVersions, so that Options.APIVersions must list the API versions of the cluster. Texts of values
// count as well, because tpl may execute them.
func (c *Chart) NeedsAPIVersions(values ...map[string]any) bool {
	return c.apiVersions || slices.ContainsFunc(values, func(v map[string]any) bool { return valuesUse(v, usesAPIVersions) })
}

// NeedsKubeVersion reports whether a template of the chart or of one of its dependencies uses .Capabilities.KubeVersion, or all
// capabilities. Texts of values count as for NeedsAPIVersions.
func (c *Chart) NeedsKubeVersion(values ...map[string]any) bool {
	return c.kubeVersion || slices.ContainsFunc(values, func(v map[string]any) bool { return valuesUse(v, usesKubeVersion) })
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
