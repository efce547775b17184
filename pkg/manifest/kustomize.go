// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// cachedBuild is the largest build of a kustomization that is kept, in bytes.
const cachedBuild = 1 << 20

// title of a form in messages.
func (f Form) title() string {
	if f == FormKustomize {
		return "a kustomization"
	}
	return "plain objects"
}

// folder of the kustomization of an install, relative to the content.
func (i *Install) folder() string {
	return path.Clean(cmp.Or(i.Path, "."))
}

// asIs are the objects of an install that is no chart.
func (w *work) asIs(ctx context.Context, in *Install) ([]*unstructured.Unstructured, error) {
	if len(in.Values) > 0 {
		return nil, errors.Errorf("values are for charts, and this install is %s; take them out", in.Form.title())
	}
	if in.Form == FormPlain {
		return plain(ctx, in)
	}
	return w.kustomized(ctx, in)
}

// kustomized objects of an install. Fetching comes first, as it says whether the set may have the content; what was built
// for one set is there for all.
func (w *work) kustomized(ctx context.Context, in *Install) ([]*unstructured.Unstructured, error) {
	dir := in.folder()
	if path.IsAbs(dir) || slices.Contains(strings.Split(dir, "/"), "..") {
		return nil, errors.Errorf("path %q must be a folder in the layer, without a slash in front and without ..", in.Path)
	}
	content, err := in.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	text, err := w.built(ctx, content, dir)
	if err != nil {
		return nil, err
	}
	out, err := render.Objects(text)
	if err == nil && len(out) == 0 {
		err = errors.New("the kustomization makes no object")
	}
	return out, err
}

// built kustomization as text, which objects are read from anew each time as they are changed. A preview has no engine,
// and nothing that is kept.
func (w *work) built(ctx context.Context, content source.Content, dir string) ([]byte, error) {
	key := content.Digest + " " + dir
	if w.e != nil {
		if b, ok := w.e.builds.Get(key); ok {
			return b.([]byte), nil //nolint:forcetypeassert // Only texts are put in.
		}
	}
	files, err := content.Files()
	if err != nil {
		return nil, err
	}
	text, err := render.Kustomization(ctx, renderFiles(files), dir)
	if err == nil && w.e != nil && len(text) <= cachedBuild {
		w.e.builds.Add(key, text)
	}
	return text, err
}

func renderFiles(files []source.File) []render.File {
	out := make([]render.File, len(files))
	for i, f := range files {
		out[i] = render.File(f)
	}
	return out
}
