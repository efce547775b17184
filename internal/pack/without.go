// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

var errNoFile = errors.New("neither a file nor a directory")

// Without returns a file system that omits some paths and everything below them, and opens only regular files and
// directories. It refuses links to omitted files.
func Without(fsys fs.FS, names ...string) fs.FS {
	return &without{FS: fsys, names: names}
}

type without struct {
	fs.FS

	names []string
}

func (w *without) hidden(name string) bool {
	return slices.ContainsFunc(w.names, func(n string) bool { return name == n || strings.HasPrefix(name, n+"/") })
}

func (w *without) refuse(op, name string) error {
	if w.hidden(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// Open opens a file or a directory. It refuses other types: opening a pipe could block forever.
func (w *without) Open(name string) (fs.File, error) {
	if err := w.refuse("open", name); err != nil {
		return nil, err
	}
	info, err := w.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	return w.FS.Open(name)
}

// Stat returns the file info of a path. It follows links.
func (w *without) Stat(name string) (fs.FileInfo, error) {
	if err := w.refuse("stat", name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(w.FS, name)
	if err == nil && w.linked(info) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return info, err
}

// linked reports whether a file is a hidden one under another name: it may be a private key to which another client has
// created a link.
func (w *without) linked(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && slices.ContainsFunc(w.names, func(n string) bool {
		hidden, err := fs.Stat(w.FS, n)
		return err == nil && os.SameFile(hidden, info)
	})
}

// Lstat returns the file info of a path. It does not follow links.
func (w *without) Lstat(name string) (fs.FileInfo, error) {
	if err := w.refuse("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(w.FS, name)
}

// ReadLink returns the target of a link.
func (w *without) ReadLink(name string) (string, error) {
	if err := w.refuse("readlink", name); err != nil {
		return "", err
	}
	return fs.ReadLink(w.FS, name)
}

// ReadDir returns the entries of a directory that are not hidden.
func (w *without) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.refuse("readdir", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return w.hidden(path.Join(name, e.Name())) }), err
}
