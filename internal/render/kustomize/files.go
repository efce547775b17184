// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// A fileSystem is the file system of kustomize. It gives access only to the given files, not to those of this
// machine, and is read-only. Paths begin with a slash. Reads fail after the context has ended.
type fileSystem struct {
	// Methods that are not defined below panic, which makes the build fail: kustomize only reads.
	filesys.FileSystem

	ctx     context.Context //nolint:containedctx // Kustomize hands none through.
	content map[string][]byte
	dirs    map[string]bool
}

func newFileSystem(ctx context.Context, files []input.File) (*fileSystem, error) {
	if len(files) > input.MaxFiles {
		return nil, errors.Errorf("more than %d files", input.MaxFiles)
	}
	f := &fileSystem{ctx: ctx, content: make(map[string][]byte, len(files)), dirs: map[string]bool{"/": true}}
	for _, file := range files {
		name := path.Clean("/" + file.Name)
		switch {
		case len(name) > input.MaxName:
			return nil, errors.Errorf("a file name is longer than %d bytes", input.MaxName)
		case strings.ContainsRune(name, 0) || name == "/":
			return nil, errors.Errorf("%q is not a valid file name", file.Name)
		case f.content[name] != nil:
			return nil, errors.Errorf("duplicate file %s", name[1:])
		}
		data := input.TrimBOM(file.Data)
		if data == nil {
			data = []byte{}
		}
		f.content[name] = data
		for d := path.Dir(name); !f.dirs[d]; d = path.Dir(d) {
			f.dirs[d] = true
		}
	}
	for name := range f.content {
		if f.dirs[name] {
			return nil, errors.Errorf("%s is both a file and a directory", name[1:])
		}
	}
	return f, nil
}

// ReadFile returns a copy of the content of an existing file.
func (f *fileSystem) ReadFile(name string) ([]byte, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	data, ok := f.content[path.Clean("/"+name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: strings.TrimPrefix(name, "/"), Err: fs.ErrNotExist}
	}
	// Kustomize may keep the result, and callers share the original.
	return append(make([]byte, 0, len(data)), data...), nil
}

// IsDir reports whether name is an existing directory.
func (f *fileSystem) IsDir(name string) bool { return f.dirs[path.Clean("/"+name)] }

// Exists reports whether name is an existing file or directory.
func (f *fileSystem) Exists(name string) bool {
	return f.IsDir(name) || f.content[path.Clean("/"+name)] != nil
}

// CleanedAbs returns the directory and the name of a file, or only the directory.
func (f *fileSystem) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	clean := path.Clean("/" + name)
	if f.dirs[clean] {
		return filesys.ConfirmedDir(clean), "", nil
	}
	if f.content[clean] == nil {
		return "", "", errors.Errorf("%q does not exist", clean[1:])
	}
	dir, base := path.Split(clean)
	return filesys.ConfirmedDir(path.Clean(dir)), base, nil
}

// RemoveAll does nothing: kustomize calls it after git clones, which are not supported.
func (f *fileSystem) RemoveAll(string) error { return nil }
