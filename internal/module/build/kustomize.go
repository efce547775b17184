// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/kustomize"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	// maxKustomization bounds one kustomization.yaml, in bytes.
	maxKustomization = 1 << 20

	kindDefinition = "CustomResourceDefinition"
)

func (b *builder) kustomizations(ctx context.Context) error {
	for i, k := range b.d.Kustomizations {
		field := fmt.Sprintf("kustomizations[%d]", i)
		dir := path.Clean(k.Path)
		r := &reachable{fsys: b.fsys, seen: map[string]bool{}, bytes: archive.DefaultLimits().Uncompressed}
		if err := r.addDir(dir); err != nil {
			return errors.Wrap(err, field)
		}
		data, err := kustomize.Build(ctx, r.out, dir)
		if err != nil {
			return errors.Wrap(err, field)
		}
		if k.SplitCRDs {
			if data, err = b.splitCRDs(data); err != nil {
				return errors.Wrap(err, field)
			}
			if len(bytes.TrimSpace(data)) == 0 {
				continue
			}
		}
		if err := b.plain(field, k.Name, k.Path, []archive.File{{Name: path.Join(dir, "kustomization.yaml"), Data: data}}); err != nil {
			return err
		}
	}
	return nil
}

// splitCRDs moves the CRDs of some YAML to b.split, and returns the rest.
func (b *builder) splitCRDs(data []byte) ([]byte, error) {
	var rest [][]byte
	for _, doc := range documents(data) {
		objects, err := yamldoc.Objects(doc)
		if err != nil {
			return nil, err
		}
		if len(objects) != 1 || objects[0].GetKind() != kindDefinition {
			rest = append(rest, doc)
			continue
		}
		b.split = append(b.split, archive.File{Name: objects[0].GetName() + ".yaml", Data: doc})
	}
	return bytes.Join(rest, separator), nil
}

// documents splits the output of a kustomization into its documents, and drops empty ones. In that output, only
// separators begin with ---.
func documents(data []byte) [][]byte {
	var out [][]byte
	var doc []byte
	for line := range bytes.Lines(data) {
		if bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte("---")) {
			out, doc = append(out, doc), nil
			continue
		}
		doc = append(doc, line...)
	}
	out = append(out, doc)
	kept := out[:0]
	for _, d := range out {
		if len(bytes.TrimSpace(d)) > 0 {
			kept = append(kept, d)
		}
	}
	return kept
}

// A reachable collects the files that a kustomization can refer to: all that it names, and all that the kustomizations
// below it name. Reading the whole directory of the module could be expensive, and show unrelated files in messages.
type reachable struct {
	fsys  fs.FS
	seen  map[string]bool
	bytes int64
	out   []input.File
}

// addDir adds the files of a directory, and those that they name. The directory must contain a kustomization, unless another one
// refers to it.
func (r *reachable) addDir(dir string) error {
	if r.seen[dir] {
		return nil
	}
	r.seen[dir] = true
	found := false
	for _, name := range definition.KustomizationFiles() {
		file := path.Join(dir, name)
		if info, err := fs.Stat(r.fsys, file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		found = true
		data, err := r.file(file)
		if err != nil {
			return err
		}
		if err := r.named(dir, file, data); err != nil {
			return err
		}
	}
	if !found && len(r.out) == 0 {
		return errors.Errorf("%s: no kustomization.yaml found in this directory", dir)
	}
	return nil
}

func (r *reachable) file(name string) ([]byte, error) {
	if r.seen[name] {
		return nil, nil
	}
	r.seen[name] = true
	data, err := pack.ReadFile(r.fsys, name)
	if err != nil {
		return nil, err
	}
	if r.bytes -= int64(len(data)); r.bytes < 0 {
		return nil, errors.Errorf("%s: the total size of the kustomizations exceeds the limit of %d bytes", name, archive.DefaultLimits().Uncompressed)
	}
	r.out = append(r.out, input.File{Name: name, Data: data})
	return data, nil
}

// named adds the files and directories that a kustomization names: every string in it that is an existing path.
func (r *reachable) named(dir, file string, data []byte) error {
	var tree any
	if err := (yamlsize.Limits{Bytes: maxKustomization}).Unmarshal(data, &tree); err != nil {
		return errors.Errorf("%s: %s", file, strings.Join(strings.Fields(err.Error()), " "))
	}
	for _, text := range texts(nil, tree) {
		if err := r.path(dir, text); err != nil {
			return err
		}
		// Generators write key=path.
		if _, after, ok := strings.Cut(text, "="); ok {
			if err := r.path(dir, after); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reachable) path(dir, text string) error {
	if len(text) > 1024 || strings.ContainsAny(text, "\n\\") || path.IsAbs(text) || text == "" {
		return nil
	}
	full := path.Join(dir, text)
	if !fs.ValidPath(full) {
		// The path leaves the module, which the build of the kustomization reports.
		return nil
	}
	info, err := fs.Stat(r.fsys, full)
	switch {
	case err != nil:
		return nil //nolint:nilerr // It is not a path, or leads nowhere, of which the same is true.
	case info.IsDir():
		return r.addDir(full)
	case info.Mode().IsRegular():
		_, err := r.file(full)
		return err
	}
	return nil
}

// texts appends all strings of a tree to out.
func texts(out []string, tree any) []string {
	switch t := tree.(type) {
	case string:
		return append(out, t)
	case []any:
		for _, e := range t {
			out = texts(out, e)
		}
	case map[string]any:
		for _, key := range sortedKeys(t) {
			out = texts(out, t[key])
		}
	}
	return out
}
