// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const mib = 1 << 20

// An observer observes the memory of archives while it renders.
type observer struct {
	InProcess

	// has reports whether another archive can have a number of bytes, without waiting.
	has  func(n int64) bool
	seen []bool
}

func (o *observer) see() { o.seen = append(o.seen, o.has(2*mib), o.has(3*mib)) }

func (o *observer) Chart(ctx context.Context, tenant string, c *render.Chart, options render.Options) (*render.Rendered, error) {
	o.see()
	return o.InProcess.Chart(ctx, tenant, c, options)
}

func (o *observer) Kustomization(
	ctx context.Context, tenant string, files []input.File, dir string,
) (objects []*unstructured.Unstructured, size int, err error) {
	o.see()
	return o.InProcess.Kustomization(ctx, tenant, files, dir)
}

func (o *observer) Plain(ctx context.Context, tenant string, files []input.File) ([][]*unstructured.Unstructured, error) {
	o.see()
	return o.InProcess.Plain(ctx, tenant, files)
}

// dependency returns a packed chart with a file of 1 MiB.
func dependency(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"child/Chart.yaml": "{apiVersion: v2, name: child, version: 1.0.0}", "child/big": string(make([]byte, mib))} {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestArchiveMemory checks that an archive uses memory of the bound until it has been rendered, and that no more is reserved for it once it
// is unpacked.
func TestArchiveMemory(t *testing.T) {
	kustomization := layerOf("kustomization.yaml", "resources: [a.yaml]", "a.yaml", configMap("a"))
	crds := layerOf("crd.yaml", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.example.org}}")
	type want struct {
		Rendering []bool // whether another archive can have 2 and 3 of 4 MiB
		After     bool
		TooLarge  bool
	}
	counted := want{Rendering: []bool{true, false}, After: true}
	cases := map[string]struct {
		reason string
		bundle bundle.Bundle
		want   want
	}{
		"Chart":         {reason: "A chart counts.", bundle: bundle.Bundle{Installs: []bundle.Install{chartOf("web", configMap("a"))}}, want: counted},
		"Plain":         {reason: "Plain objects count.", bundle: bundle.Bundle{Installs: []bundle.Install{plainOf("plain", configMap("a"))}}, want: counted},
		"Kustomization": {reason: "A kustomization counts.", bundle: bundle.Bundle{Installs: []bundle.Install{{Name: "built", Namespace: "apps", Form: bundle.FormKustomize, Layer: kustomization}}}, want: counted},
		"CRDs":          {reason: "CRDs count.", bundle: bundle.Bundle{CRDs: &crds}, want: counted},
		"Dependency": {
			reason: "The packed dependencies of a chart count too.",
			bundle: bundle.Bundle{Installs: []bundle.Install{{Name: "web", Namespace: "apps", Layer: layerOf(
				"Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: child, version: 1.0.0}]}", "charts/child.tgz", dependency(t))}}},
			want: want{After: true, TooLarge: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			archives := decoding.NewArchives(4 * mib)
			pulled := func(l source.Layer) source.Layer {
				return source.Layer{Digest: l.Digest, Fetch: func(ctx context.Context) (source.Content, error) {
					if err := archives.Take(ctx, 2*mib); err != nil {
						return source.Content{}, err
					}
					return l.Fetch(ctx)
				}}
			}
			if tc.bundle.CRDs != nil {
				tc.bundle.CRDs = new(pulled(*tc.bundle.CRDs))
			}
			for i := range tc.bundle.Installs {
				tc.bundle.Installs[i].Layer = pulled(tc.bundle.Installs[i].Layer)
			}
			o := &observer{has: func(n int64) bool {
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				ctx, done := decoding.HoldArchive(ended)
				defer done()
				return archives.Take(ctx, n) == nil
			}}
			c := composerOf(&tc.bundle)
			c.Renderer = o
			parts := tc.bundle.Outline()
			_, err := c.Compose(t.Context(), &parts[0], inventory.Part{})
			var large *decoding.ArchiveError
			got := want{Rendering: o.seen, After: o.has(3 * mib), TooLarge: errors.As(err, &large)}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil && !got.TooLarge {
				t.Errorf("\n%s\nCompose(...): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestSharedChart checks that a caller whose context ends while it unpacks a chart does not fail for another one that waits for it.
func TestSharedChart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := chartOf("web", configMap("a"))
		unpacks, first := 0, make(chan struct{})
		fetch := in.Layer.Fetch
		in.Layer.Fetch = func(ctx context.Context) (source.Content, error) {
			content, err := fetch(ctx)
			files := content.Files
			content.Files = func() ([]source.File, error) {
				if unpacks++; unpacks == 1 {
					<-first
					return nil, context.Canceled
				}
				return files()
			}
			return content, err
		}
		caches, results := NewCaches(), make(chan error)
		for range 2 {
			go func() { _, err := caches.loadChart(t.Context(), &in); results <- err }()
			synctest.Wait()
		}
		close(first)
		var failed int
		for range 2 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed > 0 || unpacks != 2 {
			t.Errorf("loadChart(...): %d of 2 callers failed, and the chart was unpacked %d times", failed, unpacks)
		}
	})
}
