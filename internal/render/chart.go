// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
)

// A Chart is a loaded chart. It is immutable and safe for concurrent use.
type Chart struct {
	chart   *chart.Chart
	digest  string
	schemas schemas
	sources *sources

	impure      bool
	apiVersions bool
	tpl         bool
}

func newChart(c *chart.Chart, digest string) *Chart {
	out := &Chart{chart: c, digest: digest, schemas: compileSchemas(c), sources: newSources()}
	out.scan(c)
	return out
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
// names a function whose result may differ between two renderings (see
// impureFuncs). It is a promise about all values only for charts without tpl:
// give the values of the install to have the text looked at that tpl might run.
// Rendered.Pure knows exactly, afterwards.
func (c *Chart) Pure(values ...map[string]any) bool {
	return !c.impure && !c.tplMentions(impureWord, values)
}

// NeedsAPIVersions is true when a template of the chart or of one of its
// dependencies mentions .Capabilities.APIVersions, so that Options.APIVersions
// must be what the cluster serves. Values are looked at as in Pure.
func (c *Chart) NeedsAPIVersions(values ...map[string]any) bool {
	return c.apiVersions || c.tplMentions(apiVersionsWord, values)
}

var (
	impureWord      = regexp.MustCompile(`\b(?:` + strings.Join(impureFuncs, "|") + `)\b`)
	apiVersionsWord = regexp.MustCompile(`\bAPIVersions\b`)
)

// tplMentions is true when the chart uses tpl, and values, its own or those of
// an install, hold a template in which word occurs.
func (c *Chart) tplMentions(word *regexp.Regexp, values []map[string]any) bool {
	if !c.tpl {
		return false
	}
	for _, v := range values {
		if valuesMention(v, word) {
			return true
		}
	}
	return chartMentions(c.chart, word)
}

func chartMentions(c *chart.Chart, word *regexp.Regexp) bool {
	if valuesMention(c.Values, word) {
		return true
	}
	return slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return chartMentions(d, word) })
}

// valuesMention is true when a string below v is a template with word in it.
func valuesMention(v any, word *regexp.Regexp) bool {
	switch t := v.(type) {
	case string:
		return hasAction(t) && word.MatchString(t)
	case []any:
		return slices.ContainsFunc(t, func(e any) bool { return valuesMention(e, word) })
	case map[string]any:
		for _, e := range t {
			if valuesMention(e, word) {
				return true
			}
		}
	}
	return false
}

// scan parses the templates of c and its dependencies, which also fills the
// cache of parsed templates, and notes which functions and fields they use.
// Templates that do not parse are an error of Render, not of Load: they may
// belong to a dependency that is switched off.
func (c *Chart) scan(hc *chart.Chart) {
	for _, f := range hc.Templates {
		s := c.sources.get(templatePath(hc, f), f)
		c.tpl = c.tpl || s.uses.tpl
		c.apiVersions = c.apiVersions || s.uses.apiVersions
		c.impure = c.impure || s.uses.impure
	}
	for _, d := range hc.Dependencies() {
		c.scan(d)
	}
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

// sources keeps parsed templates. The path is part of the key, because an alias
// in Chart.yaml gives one file a second path and errors name the path. There are as
// many entries as files and aliases.
type sources struct {
	mu    sync.Mutex
	items map[sourceKey]*source
}

type sourceKey struct {
	path string
	file *chart.File
}

func newSources() *sources { return &sources{items: map[sourceKey]*source{}} }

func (s *sources) get(path string, f *chart.File) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sourceKey{path: path, file: f}
	if src, ok := s.items[key]; ok {
		return src
	}
	src := parseSource(path, string(f.Data))
	s.items[key] = src
	return src
}
