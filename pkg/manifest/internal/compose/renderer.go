// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/kustomize"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// A Renderer renders charts, builds kustomizations, and reads plain objects. It is safe for concurrent use. Renderings with the
// same tenant share resources. The tenant can be empty.
type Renderer interface {
	// Chart returns the result of c.Render.
	Chart(ctx context.Context, tenant string, c *render.Chart, o render.Options) (*render.Rendered, error)

	// Kustomization returns the objects of the kustomization in a directory of files, and their size in bytes.
	Kustomization(ctx context.Context, tenant string, files []input.File, dir string) (objects []*unstructured.Unstructured, size int, err error)

	// Plain returns the objects in each YAML or JSON file. Errors contain the name of the file.
	Plain(ctx context.Context, tenant string, files []input.File) ([][]*unstructured.Unstructured, error)
}

// InProcess is the Renderer that renders in this process, without any limit of time or memory.
type InProcess struct{}

// Chart renders a chart.
func (InProcess) Chart(ctx context.Context, _ string, c *render.Chart, o render.Options) (*render.Rendered, error) {
	return c.Render(ctx, o)
}

// Kustomization builds a kustomization.
func (InProcess) Kustomization(
	ctx context.Context, _ string, files []input.File, dir string,
) (objects []*unstructured.Unstructured, size int, err error) {
	text, err := kustomize.Build(ctx, files, dir)
	if err != nil {
		return nil, 0, err
	}
	objects, err = yamldoc.Objects(text)
	return objects, len(text), err
}

// Plain reads plain objects.
func (InProcess) Plain(_ context.Context, _ string, files []input.File) ([][]*unstructured.Unstructured, error) {
	return yamldoc.Files(files)
}
