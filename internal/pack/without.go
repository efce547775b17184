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

var errNoFile = errors.New("it is neither a file nor a directory")

// Without returns a file system in which some paths, and what is below them, are
// not there, and of which nothing but files and directories can be
// opened. A link does not lead to what is not there.
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

// Open a file or a directory. To open a pipe could wait forever.
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

// Stat follows links.
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

// linked says whether a file is one that is hidden, by another name: it may be a
// private key, to which another client has made a link.
func (w *without) linked(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && slices.ContainsFunc(w.names, func(n string) bool {
		hidden, err := fs.Stat(w.FS, n)
		return err == nil && os.SameFile(hidden, info)
	})
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

// ReadDir returns what is in a directory.
func (w *without) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.refuse("readdir", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return w.hidden(path.Join(name, e.Name())) }), err
}
