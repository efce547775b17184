// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

func TestArtifact(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "a")
	blob := s.Push(t, repo, data)
	flux := s.PushManifest(t, repo, "flux", layers.FluxConfig, layers.FluxContent, data)
	chart := s.PushManifest(t, repo, "1.0.0", layers.HelmConfig, layers.HelmContent, data)
	s.PushManifest(t, repo, "image", imageConfig, layers.FluxContent, data)

	cases := map[string]struct {
		reason      string
		tag, digest string
		version     string
		err         string
	}{
		"Chart":       {reason: "A tag leads to the archive of a chart.", tag: "1.0.0", version: "1.2.3+build"},
		"ChartDigest": {reason: "The digest of the manifest of a chart is accepted.", digest: chart},
		"Flux":        {reason: "A tag leads to the layer of Flux.", tag: "flux"},
		"FluxDigest":  {reason: "The digest of the manifest of a Flux artifact is accepted.", digest: flux},
		"Layer":       {reason: "A layer is what it is.", digest: blob},
		"Both":        {reason: "The digest goes before the tag.", tag: "missing", digest: blob},
		"Image":       {reason: "Of other manifests no one knows what they mean.", tag: "image", err: "not a chart"},
		"Missing":     {reason: "A tag that is not there is named.", tag: "missing", err: `has no tag "missing"`},
		"NoDigest":    {reason: "A digest that does not exist is an error.", digest: oci.DigestOf(nil), err: "(404 Not Found)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref := oci.Reference{Repository: s.Host() + "/" + repo, Tag: tc.tag, Digest: tc.digest}
			got, err := newClient(t).Artifact(t.Context(), s.Plain("", ""), ref)
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nArtifact(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			want := Artifact{}
			if tc.err == "" {
				want = Artifact{Data: data, Digest: oci.DigestOf(data), Version: got.Version}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nArtifact(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.version != "" && got.Version != tc.version {
				t.Errorf("\n%s\nwant version %s, got %s", tc.reason, tc.version, got.Version)
			}
		})
	}
}
