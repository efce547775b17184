// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// TestCaches checks which content is fetched each time, and which is read and built only once.
func TestCaches(t *testing.T) {
	kustomization := layerOf("kustomization.yaml", "resources: [a.yaml]", "a.yaml", configMap("a"))
	large := layerOf("kustomization.yaml", "resources: [a.yaml]", "a.yaml",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "+strings.Repeat("x", maxCachedBuild)+"}}")
	chart := chartOf("web", configMap("a")).Layer
	build := func(ctx context.Context, c *Caches, l source.Layer) error {
		content, err := l.Fetch(ctx)
		if err != nil {
			return err
		}
		_, err = c.buildKustomization(ctx, InProcess{}, "", content, ".")
		return err
	}
	load := func(ctx context.Context, c *Caches, l source.Layer) error {
		in := chartOf("web")
		in.Layer = l
		_, err := c.loadChart(ctx, &in)
		return err
	}
	type counts struct{ Fetched, Read int }
	cases := map[string]struct {
		reason string
		caches *Caches
		layer  source.Layer
		do     func(ctx context.Context, c *Caches, l source.Layer) error
		want   counts
	}{
		"Kustomization":         {reason: "The content is read once.", caches: NewCaches(), layer: kustomization, do: build, want: counts{Fetched: 3, Read: 1}},
		"LargeKustomization":    {reason: "A large kustomization is not cached.", caches: NewCaches(), layer: large, do: build, want: counts{Fetched: 3, Read: 3}},
		"KustomizationUncached": {reason: "Without caches, nothing is cached.", layer: kustomization, do: build, want: counts{Fetched: 3, Read: 3}},
		"Chart":                 {reason: "A chart is parsed once, and fetched each time.", caches: NewCaches(), layer: chart, do: load, want: counts{Fetched: 3, Read: 1}},
		"ChartUncached":         {reason: "Without caches, nothing is cached.", layer: chart, do: load, want: counts{Fetched: 3, Read: 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got counts
			counted := source.Layer{Digest: tc.layer.Digest, Fetch: func(ctx context.Context) (source.Content, error) {
				got.Fetched++
				content, err := tc.layer.Fetch(ctx)
				files := content.Files
				content.Files = func() ([]source.File, error) { got.Read++; return files() }
				return content, err
			}}
			for range 3 {
				if err := tc.do(t.Context(), tc.caches, counted); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPanicOfChart checks that a panic that the content of a chart causes is an error of this chart.
func TestPanicOfChart(t *testing.T) {
	in := chartOf("web")
	in.Layer = source.Layer{Digest: "sha256:a", Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: "sha256:a", Files: func() ([]source.File, error) { panic("a bad archive") }}, nil
	}}
	if _, err := NewCaches().loadChart(t.Context(), &in); !panics.Is(err) || !strings.Contains(err.Error(), "chart sha256:a") {
		t.Errorf("loadChart(...): want the error of a panic that names the chart, got %v", err)
	}
}

// TestManyLargeCharts checks that many large charts of a tenant don't make the process larger than the limit.
func TestManyLargeCharts(t *testing.T) {
	c, before := NewCaches(), heaptest.Bytes()
	for i := range 60 {
		in, digest := chartOf("web"), strconv.Itoa(i)
		in.Layer = source.Layer{Digest: digest, Fetch: func(context.Context) (source.Content, error) {
			return source.Content{Digest: digest, Files: func() ([]source.File, error) {
				return []source.File{
					{Name: "Chart.yaml", Data: []byte("{apiVersion: v2, name: web, version: 1.0.0}")},
					{Name: "values.yaml", Data: []byte("many: [" + strings.Repeat("{a: b}, ", 2_000) + "]")},
					{Name: "README.md", Data: make([]byte, 4<<20)},
				}, nil
			}}, nil
		}}
		if _, err := c.loadChart(t.Context(), &in); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heaptest.Bytes() - before; grown > cachedCharts*11/10 {
		t.Errorf("want at most %d bytes, got %d", cachedCharts, grown)
	}
	if c.charts.Size() < cachedCharts/2 {
		t.Errorf("want charts to be cached, got %d bytes", c.charts.Size())
	}
}
