// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

const (
	// maxDepth ends a cycle of links that the file system does not report.
	maxDepth = 64

	// layoutFile marks a directory as an OCI image layout, such as the output of a previous build.
	layoutFile = "oci-layout"
)

// Directory returns the files of a directory, sorted by name. Names are relative to it. It refuses symbolic links that
// leave the directory, follows others, and omits files that no module needs (.git, .DS_Store, ._*, OCI image layouts).
//
// It relies on fsys to detect links that leave it: pass the FS of an os.Root. The limits for the number and the size of
// files are the same as for a layer.
func Directory(fsys fs.FS, dir string) ([]archive.File, error) {
	return collect(fsys, dir, func(string, bool) bool { return false })
}

// Chart returns the files of a chart directory, as Directory does, without those that its .helmignore excludes.
func Chart(fsys fs.FS, dir string) ([]archive.File, error) {
	rules, err := readIgnore(fsys, dir)
	if err != nil {
		return nil, err
	}
	return collect(fsys, dir, rules.match)
}

// YAML returns the files of a directory whose names are wanted, as Directory does. It omits directories whose names
// begin with a dot.
func YAML(fsys fs.FS, dir string, wanted func(name string) bool) ([]archive.File, error) {
	return collect(fsys, dir, func(name string, directory bool) bool {
		if directory {
			return strings.HasPrefix(path.Base(name), ".")
		}
		return !wanted(name)
	})
}

// ReadFile returns the content of one file, of at most the size of a layer.
func ReadFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, reason(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.Errorf("%s: not a file", name)
	}
	return read(fsys, name, archive.DefaultLimits().Uncompressed)
}

func collect(fsys fs.FS, dir string, ignored func(name string, directory bool) bool) ([]archive.File, error) {
	limits := archive.DefaultLimits()
	w := &walk{fsys: fsys, root: dir, ignored: ignored, bytes: limits.Uncompressed, files: limits.Files}
	info, err := fs.Stat(fsys, dir)
	if err != nil {
		return nil, reason(dir, err)
	}
	if !info.IsDir() {
		return nil, errors.Errorf("%s: not a directory", dir)
	}
	if err := w.directory("", []fs.FileInfo{info}); err != nil {
		return nil, err
	}
	slices.SortFunc(w.out, func(a, b archive.File) int { return strings.Compare(a.Name, b.Name) })
	return w.out, nil
}

// A walk walks a directory like fs.WalkDir, but follows links.
type walk struct {
	fsys    fs.FS
	root    string
	ignored func(name string, directory bool) bool
	bytes   int64 // Bytes that may still be read.
	files   int   // Number of files that may still be read.
	out     []archive.File
}

// directory walks a directory; above contains it and all its parents.
func (w *walk) directory(name string, above []fs.FileInfo) error {
	full := path.Join(w.root, name)
	if len(above) > maxDepth {
		return errors.Errorf("%s: more than %d levels of directories, or symbolic links form a loop", full, maxDepth)
	}
	entries, err := fs.ReadDir(w.fsys, full)
	if err != nil {
		return reason(full, err)
	}
	if name != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == layoutFile }) {
		return nil
	}
	for _, e := range entries {
		if foreign(e.Name()) {
			continue
		}
		if err := w.entry(path.Join(name, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(name string, above []fs.FileInfo) error {
	full := path.Join(w.root, name)
	info, err := fs.Stat(w.fsys, full)
	if err != nil {
		return w.broken(name, err)
	}
	switch {
	case w.ignored(name, info.IsDir()):
		return nil
	case info.IsDir():
		if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
			return errors.Errorf("%s: symbolic links form a loop", full)
		}
		return w.directory(name, append(slices.Clip(above), info))
	case !info.Mode().IsRegular():
		return errors.Errorf("%s: neither a file nor a directory", full)
	}
	if w.files--; w.files < 0 {
		return errors.Errorf("%s: directory contains more than %d files", w.root, archive.DefaultLimits().Files)
	}
	data, err := read(w.fsys, full, w.bytes)
	if err != nil {
		return err
	}
	w.bytes -= int64(len(data))
	w.out = append(w.out, archive.File{Name: name, Data: data})
	return nil
}

// broken returns the reason why a file cannot be read, or nil if the file is ignored.
func (w *walk) broken(name string, err error) error {
	if w.ignored(name, false) {
		return nil
	}
	full := path.Join(w.root, name)
	info, lerr := fs.Lstat(w.fsys, full)
	if lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errors.Errorf("%s: symbolic link is broken or points outside of the directory: only links to files in the directory are followed", full)
	}
	return reason(full, err)
}

// foreign reports whether files with the name do not belong in a module.
func foreign(name string) bool {
	return name == ".git" || name == ".DS_Store" || strings.HasPrefix(name, "._")
}

func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, reason(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, reason(name, err)
	}
	if int64(len(data)) > limit {
		return nil, errors.Errorf("%s: the total size of the files exceeds the limit of %d bytes for a layer", name, archive.DefaultLimits().Uncompressed)
	}
	return data, nil
}

// reason returns the error of a failure, with the given name in place of the operating system's path.
func reason(name string, err error) error {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Errorf("%s: no such file or directory", name)
	case errors.As(err, &p):
		return errors.Wrap(p.Err, name)
	}
	return errors.Wrap(err, name)
}
