// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
)

// A Preview contains what one part of a bundle would apply, as far as that is known without a cluster.
type Preview struct {
	// Install is the name of the install. It is empty for the CRDs, which come first, and for the custom resource, which comes
	// last.
	Install string
	// Chart and Version identify a chart, and Values are its default values. They are empty for other parts.
	Chart, Version string
	Values         map[string]any
	// Objects contains the objects as they would be applied, without the labels of the engine. If only a cluster knows whether a
	// kind is namespaced, the namespace is as written.
	Objects []*unstructured.Unstructured
	// Err is the reason why there are no objects.
	Err error
}

// PreviewOf returns a preview of each part of a bundle, in the order in which the parts are applied. It renders charts as for a
// first install into a cluster of the given version, such as v1.36.3, and lookups find nothing. It returns an error if the bundle
// as a whole is invalid; the Preview of a part contains the error of that part.
func PreviewOf(ctx context.Context, r Renderer, b *bundle.Bundle, kubeVersion string) ([]Preview, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	config := NewConfig(b)
	parts := b.Outline()
	out := make([]Preview, 0, len(parts))
	known := scopes{}
	for i := range parts {
		p, in := previewPart(ctx, r, config, &parts[i], kubeVersion)
		if err := b.Transform(ctx, p.Objects...); err != nil {
			p.Objects, p.Err = nil, err
		}
		known.learn(p.Objects)
		for _, u := range p.Objects {
			if namespaced, ok := known.of(u.GroupVersionKind().GroupKind()); ok {
				setNamespace(u, namespaced, in)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// previewPart returns the preview of a part before transforms and namespaces, and its installation, which is nil for parts that
// are not installs.
func previewPart(ctx context.Context, r Renderer, config *Config, p *bundle.Part, kubeVersion string) (Preview, *Installation) {
	var out Preview
	if p.Install == nil {
		out.Objects, out.Err = readPart(ctx, r, "", nil, p)
		return out, nil
	}
	out.Install = p.Install.Name
	in, err := config.installation(ctx, p.Install)
	switch {
	case err != nil:
		out.Err = err
		return out, nil
	case p.Install.Form == bundle.FormChart:
		out.Err = previewChart(ctx, r, in, &out, kubeVersion)
	default:
		out.Objects, out.Err = readPart(ctx, r, "", nil, p)
	}
	return out, in
}

func previewChart(ctx context.Context, r Renderer, in *Installation, out *Preview, kubeVersion string) error {
	var caches *Caches // Previews are not cached.
	held, done := decoding.HoldArchive(ctx)
	defer done()
	chart, err := caches.loadChart(held, in.Install)
	if err != nil {
		return err
	}
	out.Chart, out.Version, out.Values = chart.Name(), chart.Version(), chart.Values()
	rendered, err := r.Chart(ctx, "", chart, in.optionsIn(render.Options{Revision: 1, KubeVersion: kubeVersion}))
	if err != nil {
		return err
	}
	out.Objects = slices.Concat(rendered.CRDs, rendered.Objects)
	return nil
}
