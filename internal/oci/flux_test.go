// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net/http"
	"strings"
	"testing"
)

func TestLayer(t *testing.T) {
	s := newRegistry(t)
	data := chartArchive(t, "flux")
	blob := s.push(t, repo, data)
	object := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	bare := s.push(t, repo, object)
	flux := s.pushManifest(t, repo, "flux", fluxConfig, fluxContent, data)
	image := s.pushManifest(t, repo, "image", imageConfig, fluxContent, data)
	other := s.pushManifest(t, repo, "other", fluxConfig, "application/x", data)
	index := s.pushIndex(t, flux)

	s.fetchEach(t, (*Puller).Layer, map[string]byDigest{
		"Blob":    {reason: "Modules refer to the layer.", digest: blob, want: data},
		"Object":  {reason: "JSON is a layer, too.", digest: bare, want: object},
		"Flux":    {reason: "The manifest of an artifact leads to its layer.", digest: flux, want: data},
		"Image":   {reason: "Of other manifests nobody knows what they mean.", digest: image, err: "which is no artifact of Flux"},
		"NoLayer": {reason: "An artifact has one layer of its type.", digest: other, err: "does not have one layer of type"},
		"Index":   {reason: "An index could lead anywhere.", digest: index, err: "it is an index of manifests"},
		"Missing": {reason: "Neither a blob nor a manifest.", digest: digestOf(nil), err: "(404 Not Found)"},
		"Tag":     {reason: "A tag can move.", digest: "flux", err: `"flux" is a tag or version`},
	})
}

// TestLayerIsWhatWasAskedFor holds that a registry cannot deliver another layer than the manifest names, nor another manifest.
func TestLayerIsWhatWasAskedFor(t *testing.T) {
	s := newRegistry(t)
	data := chartArchive(t, "flux")
	flux := s.pushManifest(t, repo, "flux", fluxConfig, fluxContent, data)
	for _, what := range []string{"/manifests/" + flux, "/blobs/" + digestOf(data)} {
		s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, what) {
				return false
			}
			_, _ = w.Write([]byte(`{"schemaVersion":2}`))
			return true
		})
		_, err := newPuller(t).Layer(t.Context(), s.plain("", ""), s.host()+"/"+repo, flux)
		if !strings.Contains(text(err), "delivered other content") {
			t.Errorf("%s: want a refusal, got %q", what, text(err))
		}
	}
}
