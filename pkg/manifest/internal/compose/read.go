// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// readPart returns the objects of a part that is not a chart.
func readPart(ctx context.Context, r Renderer, tenant string, caches *Caches, p *bundle.Part) ([]*unstructured.Unstructured, error) {
	switch {
	case p.CRDs != nil:
		return readCRDs(ctx, r, tenant, p.CRDs)
	case p.Install == nil:
		return []*unstructured.Unstructured{p.Resource.DeepCopy()}, nil
	case len(p.Install.Values) > 0:
		return nil, errors.Errorf("values are only supported for charts, but this install is %s; remove them", p.Install.Form.Title())
	case p.Install.Form == bundle.FormPlain:
		return readPlain(ctx, r, tenant, p.Install)
	}
	return readKustomization(ctx, r, tenant, caches, p.Install)
}

// readCRDs returns the CRDs of a layer, which must contain only CRDs, and at least one.
func readCRDs(ctx context.Context, r Renderer, tenant string, l *source.Layer) ([]*unstructured.Unstructured, error) {
	out, err := readObjects(ctx, r, tenant, l, func(u *unstructured.Unstructured) error {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			return errors.Errorf("%s %s is not a CustomResourceDefinition", u.GetKind(), u.GetName())
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = errors.New("the layer contains no CustomResourceDefinition")
	}
	return out, err
}

// readPlain returns the objects of an install in FormPlain.
func readPlain(ctx context.Context, r Renderer, tenant string, in *bundle.Install) ([]*unstructured.Unstructured, error) {
	out, err := readObjects(ctx, r, tenant, &in.Layer, func(*unstructured.Unstructured) error { return nil })
	if err == nil && len(out) == 0 {
		err = errors.New("no objects found")
	}
	return out, err
}

// readObjects returns the objects of a layer. It returns an error if check fails for one of them.
func readObjects(
	ctx context.Context, r Renderer, tenant string, l *source.Layer, check func(*unstructured.Unstructured) error,
) ([]*unstructured.Unstructured, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	files, err := readYAML(ctx, l)
	if err != nil {
		return nil, err
	}
	read, err := r.Plain(ctx, tenant, renderFiles(files))
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i, objects := range read {
		for _, u := range objects {
			if err := check(u); err != nil {
				return nil, errors.Wrap(err, files[i].Name)
			}
		}
		out = append(out, objects...)
	}
	return out, nil
}

// readYAML returns the YAML and JSON files of a layer, which count as the archive of the context. It ignores other files.
func readYAML(ctx context.Context, l *source.Layer) ([]source.File, error) {
	content, err := l.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	files, err := content.Files()
	if err == nil {
		err = decoding.FinishArchive(ctx)
	}
	if err != nil {
		return nil, err
	}
	var out []source.File
	for _, f := range files {
		if ext := path.Ext(f.Name); ext == ".yaml" || ext == ".yml" || ext == ".json" {
			out = append(out, f)
		}
	}
	return out, nil
}

// readKustomization returns the objects of a kustomization. It always fetches the content, because that checks whether the bundle
// may read it.
func readKustomization(ctx context.Context, r Renderer, tenant string, caches *Caches, in *bundle.Install) ([]*unstructured.Unstructured, error) {
	dir := in.Directory()
	if path.IsAbs(dir) || slices.Contains(strings.Split(dir, "/"), "..") {
		return nil, errors.Errorf("path %q must be a directory in the layer, without a leading slash and without ..", in.Path)
	}
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	content, err := in.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	out, err := caches.buildKustomization(ctx, r, tenant, content, dir)
	if err == nil && len(out) == 0 {
		err = errors.New("the kustomization produces no objects")
	}
	return out, err
}
