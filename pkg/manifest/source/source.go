// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

// Path returns a layer with the content of a path on disk: the directory of a chart, of objects or of a kustomization; an archive
// of such a directory (.tgz, .tar); or one file of objects. Path reads the content immediately and identifies it by its digest,
// so call Path again after a change. For a chart, it skips the files that .helmignore excludes. It returns an error for links to
// files outside the directory.
func Path(path string) (Layer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Layer{}, errors.Wrap(err, "cannot read the source")
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return Layer{}, errors.Wrap(err, "cannot read the source")
		}
		defer root.Close()
		l, err := FS(root.FS())
		return l, errors.Wrap(err, path)
	}
	data, err := pack.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return Layer{}, errors.Wrap(err, "cannot read the source")
	}
	files, err := archive.ReadLayer(data, archive.Limits{})
	return layerOfFiles(unpacked(files)), errors.Wrap(err, path)
}

// FS returns a layer with the content of a file system, which it reads in the same way as Path reads a directory. The Go compiler
// omits files such as _helpers.tpl from an embedded file system unless the pattern begins with all:.
func FS(fsys fs.FS) (Layer, error) {
	read := pack.Directory
	if _, err := fs.Stat(fsys, "Chart.yaml"); err == nil {
		read = pack.Chart
	}
	found, err := read(fsys, ".")
	if err != nil {
		return Layer{}, err
	}
	files := make([]File, 0, len(found))
	for _, f := range found {
		// A volume mounted by Kubernetes contains each file twice: as a link, and in a directory whose name begins with two dots.
		if !strings.HasPrefix(f.Name, "..") {
			files = append(files, File(f))
		}
	}
	return layerOfFiles(files), nil
}

// YAML returns a layer with the objects in a YAML text, which can contain any number. Use it with manifest.FormPlain, as CRDs, or
// as Config.
func YAML(text []byte) Layer {
	return layerOfFiles([]File{{Name: "objects.yaml", Data: text}})
}

// Objects returns a layer with objects of any Go type. Use it with manifest.FormPlain, or as CRDs. Objects encodes the objects
// immediately, so you can change them afterwards. It returns an error for an object that has no apiVersion and kind, or that it
// cannot encode.
func Objects(objects ...runtime.Object) (Layer, error) {
	var text []byte
	for i, o := range objects {
		if o.GetObjectKind().GroupVersionKind().Kind == "" {
			return Layer{}, errors.Errorf("object at index %d of type %T has no apiVersion and kind", i, o)
		}
		b, err := json.Marshal(o)
		if err != nil {
			return Layer{}, errors.Wrapf(err, "cannot encode the object at index %d", i)
		}
		text = append(append(append(text, "---\n"...), b...), '\n')
	}
	return YAML(text), nil
}

// layerOfFiles returns a layer with the given files, which it keeps in memory.
func layerOfFiles(files []File) Layer {
	id := digest.OfFiles(func(yield func(string, []byte) bool) {
		for _, f := range files {
			if !yield(f.Name, f.Data) {
				return
			}
		}
	})
	c := Content{Digest: id, Files: func() ([]File, error) { return files, nil }}
	return Layer{Digest: c.Digest, Fetch: func(context.Context) (Content, error) { return c, nil }}
}

// unpacked converts the files of an archive to files of a layer.
func unpacked(files []archive.File) []File {
	out := make([]File, len(files))
	for i, f := range files {
		out[i] = File(f)
	}
	return out
}
