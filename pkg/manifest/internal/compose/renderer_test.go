// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
)

// A recorder records what it renders.
type recorder struct {
	InProcess

	calls []string
}

func (r *recorder) Chart(ctx context.Context, tenant string, c *render.Chart, o render.Options) (*render.Rendered, error) {
	r.calls = append(r.calls, "chart "+c.Name())
	return r.InProcess.Chart(ctx, tenant, c, o)
}

func (r *recorder) Kustomization(
	ctx context.Context, tenant string, files []input.File, dir string,
) (objects []*unstructured.Unstructured, size int, err error) {
	r.calls = append(r.calls, "kustomization")
	return r.InProcess.Kustomization(ctx, tenant, files, dir)
}

func (r *recorder) Plain(ctx context.Context, tenant string, files []input.File) ([][]*unstructured.Unstructured, error) {
	for _, f := range files {
		r.calls = append(r.calls, "plain "+f.Name)
	}
	return r.InProcess.Plain(ctx, tenant, files)
}

// TestRenderer checks that only the Renderer, which can be another process, reads what a bundle installs.
func TestRenderer(t *testing.T) {
	crds := layerOf("crd.yaml", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.example.org}}")
	b := &bundle.Bundle{CRDs: &crds, Installs: []bundle.Install{
		chartOf("web", configMap("a")),
		plainOf("plain", configMap("b"), configMap("c")),
		{Name: "built", Namespace: "apps", Form: bundle.FormKustomize, Layer: layerOf("kustomization.yaml", "resources: [d.yaml]", "d.yaml", configMap("d"))},
	}}
	r := &recorder{}
	previews, err := PreviewOf(t.Context(), r, b, "v1.36.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range previews {
		if p.Err != nil || len(p.Objects) == 0 {
			t.Errorf("install %q: got %d objects, %v", p.Install, len(p.Objects), p.Err)
		}
	}
	if diff := cmp.Diff([]string{"plain crd.yaml", "chart web", "plain 0.yaml", "plain 1.yaml", "kustomization"}, r.calls); diff != "" {
		t.Errorf("what was rendered: -want, +got:\n%s", diff)
	}
}
