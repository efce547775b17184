// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

// Path is what lies on disk: the folder of a chart, of objects or of a kustomization, an archive of one (.tgz, .tar), or
// one file of objects. It is read now, and identified by what it holds: call Path again to see a change. Of a chart it
// leaves out what its .helmignore names; links that lead out of the folder are refused.
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
	files, err := oci.ReadLayer(data, oci.Limits{})
	return layerOfFiles(unpacked(files)), errors.Wrap(err, path)
}

// FS is all that a file system holds, as Path reads a folder. Of files that are embedded in a program, names like
// _helpers.tpl are left out by the compiler unless the pattern begins with all:.
func FS(fsys fs.FS) (Layer, error) {
	read := pack.Folder
	if _, err := fs.Stat(fsys, "Chart.yaml"); err == nil {
		read = pack.Chart
	}
	found, err := read(fsys, ".")
	if err != nil {
		return Layer{}, err
	}
	files := make([]File, 0, len(found))
	for _, f := range found {
		// What Kubernetes mounts is there twice: as a link, and in a folder of this name that the link leads to.
		if !strings.HasPrefix(f.Name, "..") {
			files = append(files, File(f))
		}
	}
	return layerOfFiles(files), nil
}

// YAML is the text of any number of objects. Use it with FormPlain, as CRDs, or as Config.
func YAML(text []byte) Layer {
	return layerOfFiles([]File{{Name: "objects.yaml", Data: text}})
}

// Objects of any Go type, with apiVersion and kind. Use them with FormPlain, or as CRDs. They are encoded now, so that
// they may be changed afterwards. An object without a kind, or that cannot be encoded, is an error.
func Objects(objects ...runtime.Object) (Layer, error) {
	var text []byte
	for i, o := range objects {
		if o.GetObjectKind().GroupVersionKind().Kind == "" {
			return Layer{}, errors.Errorf("object at index %d, a %T, has no apiVersion and kind", i, o)
		}
		b, err := json.Marshal(o)
		if err != nil {
			return Layer{}, errors.Wrapf(err, "cannot encode the object at index %d", i)
		}
		text = append(append(append(text, "---\n"...), b...), '\n')
	}
	return YAML(text), nil
}

// layerOfFiles that are at hand.
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

func unpacked(files []oci.File) []File {
	out := make([]File, len(files))
	for i, f := range files {
		out[i] = File(f)
	}
	return out
}
