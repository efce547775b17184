// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// Limits bound what Load accepts, with dependencies in charts/*.tgz unpacked.
type Limits struct {
	Uncompressed int64 // size of all files, in bytes
	Files        int   // number of files
}

// DefaultLimits returns the limits that apply without WithLimits.
func DefaultLimits() Limits {
	return Limits{Uncompressed: 512 << 20, Files: input.MaxFiles}
}

// A LoadOption changes how Load reads a chart.
type LoadOption func(*loadOptions)

type loadOptions struct {
	take   func(n int64) error
	limits Limits
	digest string
}

// WithLimits sets the limits of the chart, dependencies included.
func WithLimits(l Limits) LoadOption {
	return func(o *loadOptions) { o.limits = l }
}

// WithMemory sets a function that waits until there is memory for a number of bytes that are unpacked. By default, there always is.
func WithMemory(take func(n int64) error) LoadOption {
	return func(o *loadOptions) { o.take = take }
}

// WithDigest sets the result of Chart.Digest, usually the digest of the archive that contained the files. Without it,
// Load computes a digest of the files.
func WithDigest(d string) LoadOption {
	return func(o *loadOptions) { o.digest = d }
}

const (
	chartfile = "Chart.yaml"

	// maxCharts bounds the charts that result from dependencies and their aliases.
	maxCharts = 1000
)

// Load creates a chart from the files of its archive. Chart.yaml must be at the root or in exactly one top-level
// directory; files outside of that directory are ignored. As in Helm, .helmignore is not used: it applies when a
// chart is packed. Load refuses library charts, charts with an invalid Chart.yaml, and charts whose declared
// dependencies are missing in charts/.
func Load(files []input.File, o ...LoadOption) (c *Chart, err error) {
	opts := loadOptions{limits: DefaultLimits(), take: func(int64) error { return nil }}
	for _, fn := range o {
		fn(&opts)
	}

	files, err = chartRoot(files)
	if err != nil {
		return nil, err
	}
	name := chartName(files)

	// Helm's loader has panicked on malformed metadata before (CVE-2025-55198); a chart must not be able to end the
	// process.
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, errors.Errorf("cannot load chart %q: %s", name, input.Line(fmt.Sprint(r)))
		}
	}()

	x := &expander{limits: opts.limits, take: opts.take}
	if err := x.add("", files, 0); err != nil {
		return nil, errors.Wrapf(err, "chart %q", name)
	}

	hc, err := loader.LoadFiles(x.out)
	if err != nil {
		return nil, errors.Errorf("chart %q: %s", name, input.Line(err.Error()))
	}
	if err := installable(hc); err != nil {
		return nil, errors.Wrapf(err, "chart %q", hc.Name())
	}
	sortDependencies(hc)

	if opts.digest == "" {
		opts.digest = digestFiles(files)
	}
	return newChart(hc, opts.digest), nil
}

// chartRoot returns the files of the chart with names relative to its Chart.yaml.
func chartRoot(files []input.File) ([]input.File, error) {
	roots := map[string]bool{}
	for _, f := range files {
		dir, base := path.Split(f.Name)
		if base == chartfile && strings.Count(dir, "/") <= 1 {
			roots[dir] = true
		}
	}
	if roots[""] {
		return files, nil
	}
	if len(roots) == 0 {
		return nil, errors.New("not a chart: no Chart.yaml found in the root directory of the archive or in a directory below it")
	}
	if len(roots) > 1 {
		return nil, errors.New("not a chart: more than one directory in the archive contains a Chart.yaml")
	}

	root := slices.Collect(maps.Keys(roots))[0]
	out := make([]input.File, 0, len(files))
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Name, root); ok && rest != "" {
			out = append(out, input.File{Name: rest, Data: f.Data})
		}
	}
	return out, nil
}

// chartName returns the name of the chart for errors, before it is loaded and checked.
func chartName(files []input.File) string {
	var md struct {
		Name string `json:"name"`
	}
	for _, f := range files {
		if f.Name == chartfile && len(f.Data) <= input.MaxFile {
			// The loader reports metadata that cannot be read here.
			_ = yamlsize.Limits{Bytes: input.MaxFile}.Unmarshal(input.TrimBOM(f.Data), &md)
		}
	}
	return input.Line(md.Name)
}

// installable makes the checks that helm install makes before it runs, and limits the number of charts, which aliases
// multiply.
func installable(c *chart.Chart) error {
	if t := c.Metadata.Type; t != "" && t != "application" {
		return errors.Errorf("%s charts are not installable", t)
	}

	have := map[string]bool{}
	for _, d := range c.Dependencies() {
		have[d.Name()] = true
	}
	var missing []string
	for _, d := range c.Metadata.Dependencies {
		if !have[d.Name] {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) > 0 {
		return errors.Errorf("dependencies declared in Chart.yaml are missing in charts/: %s", strings.Join(missing, ", "))
	}
	if countCharts(c) > maxCharts {
		return errors.Errorf("the chart has more than %d dependencies, including aliases", maxCharts)
	}
	return nil
}

// countCharts returns how many charts c becomes at most: Helm copies a dependency for each alias, with its own
// dependencies. It stops counting above maxCharts.
func countCharts(c *chart.Chart) int {
	n := 1
	for _, d := range c.Dependencies() {
		times := 0
		for _, md := range c.Metadata.Dependencies {
			if md.Name == d.Name() {
				times++
			}
		}
		n += max(times, 1) * countCharts(d)
		if n > maxCharts {
			return maxCharts + 1
		}
	}
	return n
}

// sortDependencies sorts dependencies, because Helm's loader keeps them in the random order of a map and two loads of
// one chart must render the same.
func sortDependencies(c *chart.Chart) {
	deps := slices.Clone(c.Dependencies())
	slices.SortStableFunc(deps, func(a, b *chart.Chart) int {
		if n := strings.Compare(a.Name(), b.Name()); n != 0 {
			return n
		}
		return strings.Compare(a.Metadata.Version, b.Metadata.Version)
	})
	c.SetDependencies(deps...)
	for _, d := range deps {
		sortDependencies(d)
	}
}

// digestFiles returns a digest of names and contents with their lengths, in the order of the names.
func digestFiles(files []input.File) string {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b input.File) int { return strings.Compare(a.Name, b.Name) })

	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		_, _ = h.Write(n[:])
		_, _ = h.Write(b)
	}
	for _, f := range sorted {
		write([]byte(f.Name))
		write(f.Data)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
