// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// Files and directories that Detect looks for.
const (
	chartFile   = "Chart.yaml"
	projectFile = "PROJECT"
	defaultDir  = "config/default"
	samplesDir  = "config/samples"
)

// A Found is the definition that Detect derives from a directory without module.yaml.
type Found struct {
	*Definition

	// Kind describes the directory in messages, such as "a chart".
	Kind string
	// Chart is the name of the chart, or of the project; it may be empty.
	Chart string
	// Warnings holds warnings of one line each.
	Warnings []string
}

// ErrNothing is the error of Detect for a directory from which it cannot derive a definition.
var ErrNothing = errors.Errorf("%s is missing, and the directory contains no chart (%s), no kubebuilder project "+
	"(%s), no kustomization (kustomization.yaml), and no .yaml, .yml or .json files: create a %s that lists the content of the module",
	FileName, chartFile, projectFile, FileName)

// Detect derives a definition from a directory without module.yaml: a chart, a kubebuilder project, a kustomization, or
// a directory of plain YAML. Name and version are empty if the directory does not specify them. The error is ErrNothing
// if it is none of these.
func Detect(fsys fs.FS) (*Found, error) {
	for _, detect := range []func(fs.FS) (*Found, error){chart, project, kustomization, plain} {
		if found, err := detect(fsys); found != nil || err != nil {
			return found, err
		}
	}
	return nil, ErrNothing
}

func chart(fsys fs.FS) (*Found, error) {
	var c struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if ok, err := decode(fsys, chartFile, &c); !ok || err != nil {
		return nil, err
	}
	d := &Definition{Charts: []Chart{{Path: "."}}}
	if CheckVersion(c.Version) == nil {
		d.Version = c.Version
	}
	return &Found{Definition: d, Kind: "a chart", Chart: c.Name}, nil
}

func project(fsys fs.FS) (*Found, error) {
	var p struct {
		Domain      string `json:"domain"`
		ProjectName string `json:"projectName"`
	}
	if ok, err := decode(fsys, projectFile, &p); !ok || err != nil {
		return nil, err
	}
	if !hasKustomization(fsys, defaultDir) {
		return nil, errors.Errorf("the directory is a kubebuilder project (%s), but %s contains no kustomization.yaml", projectFile, defaultDir)
	}
	d := &Definition{Kustomizations: []Kustomization{{Path: defaultDir, SplitCRDs: true}}}
	if name := p.Domain + "/module/" + p.ProjectName; CheckName(name) == nil {
		d.Name = name
	}
	found := &Found{Definition: d, Kind: "a kubebuilder project", Chart: p.ProjectName}
	switch samples := yamlIn(fsys, samplesDir); len(samples) {
	case 0:
	case 1:
		d.DefaultCustomResource = samples[0]
	default:
		found.Warnings = append(found.Warnings, fmt.Sprintf("the module has no default custom resource, because %s "+
			"contains %d files: set defaultCustomResource in %s to one of %s", samplesDir, len(samples), FileName, strings.Join(samples, ", ")))
	}
	return found, nil
}

func kustomization(fsys fs.FS) (*Found, error) {
	if !hasKustomization(fsys, ".") {
		return nil, nil //nolint:nilnil // It is something else.
	}
	return &Found{Definition: &Definition{Kustomizations: []Kustomization{{Path: "."}}}, Kind: "a kustomization"}, nil
}

func plain(fsys fs.FS) (*Found, error) {
	if len(yamlIn(fsys, ".")) == 0 {
		return nil, nil //nolint:nilnil // It is something else.
	}
	return &Found{Definition: &Definition{Manifests: []Manifest{{Path: "."}}}, Kind: "a directory of YAML"}, nil
}

func hasKustomization(fsys fs.FS, dir string) bool {
	return slices.ContainsFunc(KustomizationFiles(), func(name string) bool {
		info, err := fs.Stat(fsys, path.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// KustomizationFiles returns the possible names of a kustomization file.
func KustomizationFiles() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// IsKustomization reports whether name is the name of a kustomization file.
func IsKustomization(name string) bool { return slices.Contains(KustomizationFiles(), name) }

// IsYAML reports whether name is the name of a file with objects, by its extension.
func IsYAML(name string) bool {
	if strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// yamlIn returns the sorted paths of the YAML files in a directory, without kustomizations.
func yamlIn(fsys fs.FS, dir string) []string {
	// An unreadable directory counts as empty; reading it later reports the error.
	entries, _ := fs.ReadDir(fsys, dir)
	var out []string
	for _, e := range entries {
		if !e.IsDir() && IsYAML(e.Name()) && !IsKustomization(e.Name()) && (dir != "." || e.Name() != FileName) {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out
}

// decode decodes some fields of a YAML file. It returns false if there is no such file.
func decode(fsys fs.FS, name string, into any) (bool, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errors.Errorf("%s: cannot open file", name)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return false, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return false, errors.Errorf("%s: cannot read file", name)
	}
	if err := (yamlsize.Limits{Bytes: maxSize, Values: maxValues}).Unmarshal(data, into); err != nil {
		return false, errors.Errorf("%s: %s", name, oneLine(err.Error()))
	}
	return true, nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
