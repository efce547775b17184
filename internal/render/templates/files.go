// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"encoding/base64"
	"path"
	"strings"

	"github.com/gobwas/glob"
	"helm.sh/helm/v3/pkg/chart"
)

// chartFiles is .Files in templates: the files of the chart that are not templates, values or dependencies, by name.
// They must not be changed.
type chartFiles map[string][]byte

func newChartFiles(from []*chart.File) chartFiles {
	out := make(chartFiles, len(from))
	for _, f := range from {
		out[f.Name] = f.Data
	}
	return out
}

// GetBytes returns the content of a file, empty if there is none.
func (f chartFiles) GetBytes(name string) []byte {
	if b, ok := f[name]; ok {
		return b
	}
	return []byte{}
}

// Get returns the content of a file as text, empty if there is none.
func (f chartFiles) Get(name string) string { return string(f.GetBytes(name)) }

// Glob returns the files that match pattern; a malformed pattern matches all.
func (f chartFiles) Glob(pattern string) chartFiles {
	g, err := glob.Compile(pattern, '/')
	if err != nil {
		g = glob.MustCompile("**")
	}
	out := chartFiles{}
	for name, b := range f {
		if g.Match(name) {
			out[name] = b
		}
	}
	return out
}

// AsConfig returns the files as YAML for the data of a ConfigMap.
func (f chartFiles) AsConfig() string {
	return f.asYAML(func(b []byte) string { return string(b) })
}

// AsSecrets returns the files as YAML for the data of a Secret.
func (f chartFiles) AsSecrets() string {
	return f.asYAML(base64.StdEncoding.EncodeToString)
}

func (f chartFiles) asYAML(text func([]byte) string) string {
	if f == nil {
		return ""
	}
	out := make(map[string]string, len(f))
	for name, b := range f {
		out[path.Base(name)] = text(b)
	}
	return toYAML(out)
}

// Lines returns the lines of a file, none if it is missing or empty.
func (f chartFiles) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}
