// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

func TestLayer(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "flux")
	blob := s.Push(t, repo, data)
	object := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	bare := s.Push(t, repo, object)
	flux := s.PushManifest(t, repo, "flux", layers.FluxConfig, layers.FluxContent, data)
	image := s.PushManifest(t, repo, "image", imageConfig, layers.FluxContent, data)
	other := s.PushManifest(t, repo, "other", layers.FluxConfig, "application/x", data)
	index := s.PushIndex(t, repo, flux)

	fetchEach(t, s, (*Client).Layer, map[string]byDigest{
		"Blob":    {reason: "Modules refer to the layer.", digest: blob, want: data},
		"Object":  {reason: "JSON is a layer, too.", digest: bare, want: object},
		"Flux":    {reason: "The manifest of an artifact leads to its layer.", digest: flux, want: data},
		"Image":   {reason: "Of other manifests no one knows what they mean.", digest: image, err: "not of a Flux artifact"},
		"NoLayer": {reason: "An artifact has one layer of its type.", digest: other, err: "without exactly one layer of type"},
		"Index":   {reason: "An index could lead anywhere.", digest: index, err: "the digest is that of an index"},
		"Missing": {reason: "The digest is that of neither a blob nor a manifest.", digest: oci.DigestOf(nil), err: "(404 Not Found)"},
		"Tag":     {reason: "A tag can move.", digest: "flux", err: `"flux" is a tag or a version`},
	})
}

// TestLayerIsWhatWasAskedFor checks that a registry can neither deliver a layer that is not in the manifest, nor a different
// manifest.
func TestLayerIsWhatWasAskedFor(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "flux")
	flux := s.PushManifest(t, repo, "flux", layers.FluxConfig, layers.FluxContent, data)
	for _, what := range []string{"/manifests/" + flux, "/blobs/" + oci.DigestOf(data)} {
		s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, what) {
				return false
			}
			_, _ = w.Write([]byte(`{"schemaVersion":2}`))
			return true
		})
		_, err := newClient(t).Layer(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, flux)
		if !strings.Contains(text(err), "returned different content") {
			t.Errorf("%s: want a refusal, got %q", what, text(err))
		}
	}
}
