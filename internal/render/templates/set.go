// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"sync"

	"helm.sh/helm/v3/pkg/chart"
)

// A Set holds the parsed templates of a chart, for all its renderings. It is safe for concurrent use. The path is
// part of the key, because an alias in Chart.yaml gives one file a second path and errors name the path. There are as
// many entries as files and aliases.
type Set struct {
	// Uses reports what the chart and its dependencies use. It does not change.
	Uses Uses

	mu    sync.Mutex
	items map[sourceKey]*source
}

type sourceKey struct {
	path string
	file *chart.File
}

// Parse returns the templates of a chart and its dependencies. Execute reports templates that do not parse, because
// they may belong to a disabled dependency.
func Parse(c *chart.Chart) *Set {
	s := &Set{items: map[sourceKey]*source{}}
	s.scan(c)
	return s
}

func (s *Set) scan(c *chart.Chart) {
	for _, f := range c.Templates {
		s.Uses.add(s.get(templatePath(c, f), f).uses)
	}
	for _, d := range c.Dependencies() {
		s.scan(d)
	}
}

func (s *Set) get(path string, f *chart.File) *source {
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
