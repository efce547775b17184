// SPDX-License-Identifier: Apache-2.0

package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxArchiveDepth bounds the nesting of dependency archives.
const maxArchiveDepth = 8

// An expander unpacks the archives of dependencies in charts/, so that Helm's loader only sees plain files. The
// loader would unpack them too, but without a limit for an archive that contains itself.
type expander struct {
	limits Limits
	take   func(n int64) error
	size   int64
	out    []*loader.BufferedFile
}

// add adds files below prefix, which is empty or ends with a slash.
func (x *expander) add(prefix string, files []input.File, depth int) error {
	for _, f := range files {
		name := prefix + f.Name
		if len(name) > input.MaxName {
			return errors.Errorf("a file name is longer than %d bytes", input.MaxName)
		}
		if isDependencyArchive(f.Name) {
			if err := x.archive(name, f.Data, depth+1); err != nil {
				return err
			}
			continue
		}
		if len(f.Data) > input.MaxFile {
			return errors.Errorf("%s is larger than %d bytes", name, input.MaxFile)
		}
		if err := x.count(int64(len(f.Data))); err != nil {
			return err
		}
		if err := checkParsed(f); err != nil {
			return errors.Wrap(err, name)
		}
		x.out = append(x.out, &loader.BufferedFile{Name: name, Data: input.TrimBOM(f.Data)})
	}
	return nil
}

// checkParsed bounds the memory that Helm's loader takes to parse a file.
func checkParsed(f input.File) error {
	switch path.Base(f.Name) {
	case chartfile, "Chart.lock", "values.yaml", "requirements.yaml", "requirements.lock":
		return yamlsize.Limits{Bytes: input.MaxFile}.Check(f.Data)
	}
	return nil
}

func (x *expander) count(size int64) error {
	x.size += size
	if x.size > x.limits.Uncompressed {
		return errors.Errorf("the unpacked chart is larger than the limit of %d bytes", x.limits.Uncompressed)
	}
	if len(x.out) >= x.limits.Files {
		return errors.Errorf("the chart has more than the limit of %d files", x.limits.Files)
	}
	return nil
}

func (x *expander) archive(name string, data []byte, depth int) error {
	if depth > maxArchiveDepth {
		return errors.Errorf("archives of dependencies are nested more than %d levels deep", maxArchiveDepth)
	}
	left := Limits{Uncompressed: x.limits.Uncompressed - x.size, Files: x.limits.Files - len(x.out)}
	files, err := x.untar(data, left)
	if err != nil {
		return errors.Wrapf(err, "dependency %s", name)
	}
	// Helm ignores the name of the directory, but it must differ from other dependencies and not end in .tgz.
	return x.add(name+".d/", files, depth)
}

// isDependencyArchive reports whether a file is charts/x.tgz, even inside a dependency that is a directory. Helm
// ignores names that begin with a dot or an underscore.
func isDependencyArchive(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts)%2 != 0 || path.Ext(name) != ".tgz" {
		return false
	}
	for i, p := range parts {
		if i%2 == 0 && p != "charts" {
			return false
		}
		if i%2 == 1 && strings.IndexAny(p, "_.") == 0 {
			return false
		}
	}
	return true
}

// perFile is the memory of a file without its name and content, in bytes.
const perFile = 256

// untar reads a packed chart: a gzipped tar with one top-level directory, whose name it drops, as Helm does.
func (x *expander) untar(data []byte, l Limits) ([]input.File, error) {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.Wrap(err, "not a gzipped archive")
	}
	// One byte more than allowed distinguishes an archive of exactly that size from a larger one; headers and padding
	// count as well, so that they are limited too.
	budget := &io.LimitedReader{R: gz, N: l.Uncompressed + int64(l.Files+2)*1024 + 1}
	tr := tar.NewReader(budget)

	var out []input.File
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if budget.N <= 0 {
			return nil, errors.Errorf("the unpacked chart is larger than the limit of %d bytes", l.Uncompressed)
		}
		if err != nil {
			return nil, errors.Wrap(err, "cannot read the archive")
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, err := archiveName(h)
		if err != nil {
			return nil, err
		}
		if len(out) >= l.Files {
			return nil, errors.Errorf("the chart has more than the limit of %d files", l.Files)
		}
		if h.Size > l.Uncompressed {
			return nil, errors.Errorf("the unpacked chart is larger than the limit of %d bytes", l.Uncompressed)
		}
		b, err := x.read(tr, name, h.Size)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read %q", name)
		}
		out = append(out, input.File{Name: name, Data: b})
	}
}

// read reads a file of an archive, unless it is larger than add allows.
func (x *expander) read(tr *tar.Reader, name string, size int64) ([]byte, error) {
	if size > input.MaxFile && !isDependencyArchive(name) {
		return nil, errors.Errorf("it is larger than %d bytes", input.MaxFile)
	}
	if err := x.take(size + int64(len(name)) + perFile); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err := io.ReadFull(tr, data)
	return data, err
}

// archiveName returns the name of a regular file without its top-level directory.
func archiveName(h *tar.Header) (string, error) {
	if h.Typeflag != tar.TypeReg {
		return "", errors.Errorf("%q is not a regular file", h.Name)
	}
	full := strings.ReplaceAll(h.Name, `\`, "/")
	_, name, ok := strings.Cut(strings.TrimPrefix(full, "./"), "/")
	clean := path.Clean(name)
	if !ok || path.IsAbs(full) || path.IsAbs(name) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errors.Errorf("all files must be in a single top-level directory, but %q is not", h.Name)
	}
	return clean, nil
}
