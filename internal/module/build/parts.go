// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// Names and types of resources, as internal/module reads them.
const (
	nameConfig         = "config"
	nameCRDs           = "crds"
	nameCustomResource = "default-cr"
	nameTemplate       = "moduletemplate"

	typeChart       = "helm-chart"
	typeCRDs        = "crds"
	typeYAML        = "yaml"
	typeRawManifest = "raw-manifest"
	typeText        = "plainText"
)

var separator = []byte("---\n") //nolint:gochecknoglobals // A constant.

// A builder reads the files that a definition names, and makes parts from them.
type builder struct {
	d        *definition.Definition
	fsys     fs.FS
	parts    []part
	warnings []string
	// split holds the CRDs that were split from kustomizations.
	split []archive.File
}

func (b *builder) charts(ctx context.Context) error {
	for i, c := range b.d.Charts {
		if err := ctx.Err(); err != nil {
			return err
		}
		field := fmt.Sprintf("charts[%d]", i)
		files, chart, err := readChart(b.fsys, path.Clean(c.Path))
		if err != nil {
			return errors.Wrap(err, field)
		}
		name := chart.Name()
		if c.Name != "" {
			name = c.Name
		} else if definition.Reserved(name) {
			return errors.Errorf("%s: the name of the chart, %q, is reserved: set %s.name", field, name, field)
		} else if err := definition.CheckInstall(name); err != nil {
			return errors.Wrapf(err, "%s: the name of the chart is invalid: set %s.name", field, field)
		}
		var p part
		if c.Format == definition.FormatHelm {
			p, err = helmChart(name, files, chart)
		} else {
			p, err = archived(placeInstall, name, typeChart, files)
		}
		if err != nil {
			return errors.Wrap(err, field)
		}
		p.chart = true
		if err := b.add(field, p); err != nil {
			return err
		}
	}
	return nil
}

// readChart reads a chart from a directory or an archive. The names of its files are relative to its Chart.yaml.
func readChart(fsys fs.FS, name string) ([]archive.File, *render.Chart, error) {
	info, err := fs.Stat(fsys, name)
	var files []archive.File
	if err == nil && info.Mode().IsRegular() {
		files, err = unpackChart(fsys, name)
	} else {
		files, err = pack.Chart(fsys, name)
	}
	if err != nil {
		return nil, nil, err
	}
	chart, err := render.Load(renderFiles(files))
	if err != nil {
		return nil, nil, errors.Wrap(err, name)
	}
	return files, chart, nil
}

// unpackChart reads a packed chart, with the names of its files as in a directory: Chart.yaml is at the top level.
func unpackChart(fsys fs.FS, name string) ([]archive.File, error) {
	data, err := pack.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	files, err := archive.Read(data, archive.Limits{})
	if err != nil {
		return nil, errors.Wrap(err, name)
	}
	isTop := func(f archive.File) bool { return f.Name == "Chart.yaml" }
	if slices.ContainsFunc(files, isTop) {
		return files, nil
	}
	top, _, _ := strings.Cut(files[0].Name, "/")
	out := make([]archive.File, 0, len(files))
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Name, top+"/")
		if !ok {
			return nil, errors.Errorf("%s: not a packaged chart: the archive must contain a single directory with a Chart.yaml", name)
		}
		out = append(out, archive.File{Name: rest, Data: f.Data})
	}
	return out, nil
}

func (b *builder) manifests(context.Context) error {
	for i, m := range b.d.Manifests {
		field := fmt.Sprintf("manifests[%d]", i)
		files, err := readYAML(b.fsys, path.Clean(m.Path))
		if err != nil {
			return errors.Wrap(err, field)
		}
		if err := b.plain(field, m.Name, m.Path, files); err != nil {
			return err
		}
	}
	return nil
}

// plain adds a part with the files joined into one YAML stream.
func (b *builder) plain(field, name, from string, files []archive.File) error {
	if name == "" {
		var err error
		if name, err = b.plainName(from); err != nil {
			return errors.Wrapf(err, "%s: set %s.name", field, field)
		}
	}
	kind := typeRawManifest
	if name == definition.RawManifest {
		kind = typeYAML
	}
	p := newPart(placeInstall, name, kind, textType, joined(files))
	p.files = files
	return b.add(field, p)
}

// plainName returns the name of an install of plain YAML for which the definition sets none.
func (b *builder) plainName(from string) (string, error) {
	if len(b.d.Manifests)+len(b.d.Kustomizations) == 1 {
		return definition.RawManifest, nil
	}
	base := path.Base(path.Clean(from))
	if definition.IsYAML(base) {
		base = strings.TrimSuffix(base, path.Ext(base))
	}
	name := strings.Trim(strings.NewReplacer(".", "-", "_", "-", " ", "-").Replace(strings.ToLower(base)), "-")
	if definition.Reserved(name) {
		return "", errors.Errorf("the name %q, which is derived from the path, is reserved", name)
	}
	return name, definition.CheckInstall(name)
}

// joined joins files into one YAML stream. It returns the content of a single file unchanged.
func joined(files []archive.File) []byte {
	if len(files) == 1 {
		return files[0].Data
	}
	var out bytes.Buffer
	for i, f := range files {
		if i > 0 {
			out.Write(separator)
		}
		data := bytes.TrimPrefix(f.Data, []byte("\ufeff"))
		out.Write(data)
		if !bytes.HasSuffix(data, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// readYAML reads a file, or the files of a directory and its subdirectories that definition.IsYAML accepts. Their names
// are relative to the directory of the module.
func readYAML(fsys fs.FS, name string) ([]archive.File, error) {
	if info, err := fs.Stat(fsys, name); err == nil && !info.IsDir() {
		data, err := pack.ReadFile(fsys, name)
		return []archive.File{{Name: name, Data: data}}, err
	}
	files, err := pack.YAML(fsys, name, definition.IsYAML)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.Errorf("%s: no .yaml, .yml or .json files found in this directory", name)
	}
	for i, f := range files {
		if base := path.Base(f.Name); definition.IsKustomization(base) {
			return nil, errors.Errorf("%s: a kustomization is not an object to install: list its directory under kustomizations", path.Join(name, f.Name))
		}
		files[i].Name = path.Join(name, f.Name)
	}
	return files, nil
}

func (b *builder) crds(context.Context) error {
	all := map[string][]byte{}
	for i, name := range b.d.CRDs {
		files, err := readYAML(b.fsys, path.Clean(name))
		if err != nil {
			return errors.Wrapf(err, "crds[%d]", i)
		}
		// A file that is listed twice, by itself and in a directory, is added once.
		for _, f := range files {
			all[f.Name] = f.Data
		}
	}
	for _, f := range b.split {
		if _, ok := all[f.Name]; ok {
			return errors.Errorf("crds: %s is both a file and a CRD of a kustomization: rename the file", f.Name)
		}
		all[f.Name] = f.Data
	}
	if len(all) == 0 {
		return nil
	}
	files := make([]archive.File, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		files = append(files, archive.File{Name: name, Data: all[name]})
	}
	p, err := archived(placeCRDs, nameCRDs, typeCRDs, files)
	if err != nil {
		return errors.Wrap(err, "crds")
	}
	return b.add("crds", p)
}

func (b *builder) config(context.Context) error {
	c := b.d.Config
	if c == nil {
		return nil
	}
	var data []byte
	var err error
	if c.Path != "" {
		data, err = pack.ReadFile(b.fsys, path.Clean(c.Path))
	} else {
		data, err = yaml.Marshal(definition.Config{Configs: c.Configs})
	}
	if err != nil {
		return errors.Wrap(err, "config")
	}
	p := newPart(placeConfig, nameConfig, typeYAML, textType, data)
	p.files = []archive.File{{Name: nameConfig, Data: data}}
	return b.add("config", p)
}

func (b *builder) customResource(context.Context) error {
	name := b.d.DefaultCustomResource
	if name == "" {
		return nil
	}
	data, err := pack.ReadFile(b.fsys, path.Clean(name))
	if err != nil {
		return errors.Wrap(err, "defaultCustomResource")
	}
	p := newPart(placeCustomResource, nameCustomResource, typeYAML, textType, data)
	p.files = []archive.File{{Name: name, Data: data}}
	return b.add("defaultCustomResource", p)
}

// template adds the skeleton of a ModuleTemplate of the module. It has no name, and no location of the module.
func (b *builder) template(context.Context) error {
	channel := b.d.Channel
	if channel == "" {
		channel = definition.DefaultChannel
	}
	spec := map[string]any{"channel": channel}
	if len(b.d.Readiness) > 0 {
		spec["readiness"] = b.d.Readiness
	}
	t := map[string]any{"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": v1alpha1.ModuleTemplateKind, "spec": spec}
	if len(b.d.Labels) > 0 {
		t["metadata"] = map[string]any{"labels": b.d.Labels}
	}
	data, err := yaml.Marshal(t)
	if err != nil {
		return err
	}
	return b.add(nameTemplate, newPart(placeTemplate, nameTemplate, typeText, textType, data))
}

// add adds a part, after checking that its layer can be read in the same way as when the module is installed.
func (b *builder) add(field string, p part) error {
	layer := p.layer
	if p.beside != nil {
		layer = &p.beside.Layers[1]
	}
	if _, err := archive.ReadLayer(layer.Data, archive.DefaultLimits()); err != nil {
		return errors.Wrap(err, field)
	}
	if slices.ContainsFunc(b.parts, func(have part) bool { return have.resource.Name == p.resource.Name }) {
		return errors.Errorf("%s: duplicate install name %q: set %s.name", field, p.resource.Name, field)
	}
	b.parts = append(b.parts, p)
	return nil
}

func archived(p place, name, kind string, files []archive.File) (part, error) {
	data, err := pack.Archive(files)
	if err != nil {
		return part{}, err
	}
	out := newPart(p, name, kind, archiveType, data)
	out.files = files
	return out, nil
}

func renderFiles(files []archive.File) []input.File {
	out := make([]input.File, 0, len(files))
	for _, f := range files {
		out = append(out, input.File(f))
	}
	return out
}
