// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const (
	// cachedCharts and cachedBuilds limit the sizes of the cached charts and kustomizations, in bytes.
	cachedCharts = 96 << 20
	cachedBuilds = 32 << 20
	// maxCachedBuild is the maximum size of the objects of a cached kustomization, in bytes.
	maxCachedBuild = 1 << 20
)

// Caches stores charts and kustomizations, which bundles with the same content share. It is safe for concurrent use. A nil
// *Caches stores nothing.
type Caches struct {
	charts  *bytelru.Cache[string, *render.Chart]                // Digest of the content to the chart.
	builds  *bytelru.Cache[string, []*unstructured.Unstructured] // Digest of the content and directory to the objects of a kustomization.
	loading singleflight.Group
}

// NewCaches returns empty Caches.
func NewCaches() *Caches {
	return &Caches{
		charts: bytelru.New[string, *render.Chart]("charts", bytelru.Scaled(cachedCharts)),
		builds: bytelru.New[string, []*unstructured.Unstructured]("objects", bytelru.Scaled(cachedBuilds)),
	}
}

// loadChart returns the chart of an install. It always fetches the content, because that checks whether the bundle may read it,
// but unpacks and parses it only once. Both count as the archive of the context, which the chart finishes.
func (c *Caches) loadChart(ctx context.Context, in *bundle.Install) (*render.Chart, error) {
	content, err := in.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return parseChart(ctx, content)
	}
	if chart, ok := c.charts.Get(content.Digest); ok {
		return chart, decoding.FinishArchive(ctx)
	}
	chart, shared, err := c.parse(ctx, content)
	if err != nil && shared && ctx.Err() == nil {
		// The context, or the memory, of the caller that parsed the chart may be the reason.
		chart, _, err = c.parse(ctx, content)
	}
	if err != nil {
		return nil, err
	}
	return chart, decoding.FinishArchive(ctx)
}

// parse parses and caches a chart, or waits for another caller that does. Shared is true if the result has several callers.
func (c *Caches) parse(ctx context.Context, content source.Content) (chart *render.Chart, shared bool, err error) {
	v, err, shared := c.loading.Do(content.Digest, func() (any, error) {
		if chart, ok := c.charts.Get(content.Digest); ok {
			return chart, nil // Another caller parsed it meanwhile.
		}
		chart, err := panics.Value("chart "+content.Digest, func() (*render.Chart, error) { return parseChart(ctx, content) })
		if err == nil {
			c.charts.Add(content.Digest, chart)
		}
		return chart, err
	})
	if err != nil {
		return nil, shared, err
	}
	return v.(*render.Chart), shared, nil //nolint:forcetypeassert // The function returns nothing else.
}

// buildKustomization returns the objects of the kustomization in a directory of the content, which the caller may change. It caches
// them, unless they are large.
func (c *Caches) buildKustomization(ctx context.Context, r Renderer, tenant string, content source.Content, dir string) ([]*unstructured.Unstructured, error) {
	key := content.Digest + " " + dir
	if c != nil {
		if built, ok := c.builds.Get(key); ok {
			return copiesOf(built), nil
		}
	}
	files, err := content.Files()
	if err == nil {
		err = decoding.FinishArchive(ctx)
	}
	if err != nil {
		return nil, err
	}
	built, size, err := r.Kustomization(ctx, tenant, renderFiles(files), dir)
	if c != nil && err == nil && size <= maxCachedBuild {
		c.builds.Add(key, copiesOf(built))
	}
	return built, err
}

func copiesOf(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, u := range objects {
		out[i] = u.DeepCopy()
	}
	return out
}

func parseChart(ctx context.Context, content source.Content) (*render.Chart, error) {
	files, err := content.Files()
	if err != nil {
		return nil, err
	}
	return render.Load(renderFiles(files), render.WithDigest(content.Digest),
		render.WithMemory(func(n int64) error { return decoding.TakeArchive(ctx, n) }))
}

func renderFiles(files []source.File) []input.File {
	out := make([]input.File, len(files))
	for i, f := range files {
		out[i] = input.File(f)
	}
	return out
}
