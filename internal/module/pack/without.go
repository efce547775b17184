// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Without returns a file system in which some paths, and what is below them, are not there.
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

// Open a file.
func (w *without) Open(name string) (fs.File, error) {
	if err := w.refuse("open", name); err != nil {
		return nil, err
	}
	return w.FS.Open(name)
}

// Stat follows links.
func (w *without) Stat(name string) (fs.FileInfo, error) {
	if err := w.refuse("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(w.FS, name)
}

// Lstat follows no links.
func (w *without) Lstat(name string) (fs.FileInfo, error) {
	if err := w.refuse("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(w.FS, name)
}

// ReadLink returns where a link leads.
func (w *without) ReadLink(name string) (string, error) {
	if err := w.refuse("readlink", name); err != nil {
		return "", err
	}
	return fs.ReadLink(w.FS, name)
}

// ReadDir returns what is in a folder.
func (w *without) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.refuse("readdir", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return w.hidden(path.Join(name, e.Name())) }), err
}
