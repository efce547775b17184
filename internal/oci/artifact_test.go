// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArtifact(t *testing.T) {
	s := newRegistry(t)
	data := chartArchive(t, "a")
	blob := s.push(t, repo, data)
	flux := s.pushManifest(t, repo, "flux", fluxConfig, fluxContent, data)
	chart := s.pushManifest(t, repo, "1.0.0", helmConfig, helmContent, data)
	s.pushManifest(t, repo, "image", imageConfig, fluxContent, data)

	cases := map[string]struct {
		reason      string
		tag, digest string
		version     string
		err         string
	}{
		"Chart":       {reason: "A tag leads to the archive of a chart.", tag: "1.0.0", version: "1.2.3+build"},
		"ChartDigest": {reason: "So does the digest of its manifest.", digest: chart},
		"Flux":        {reason: "A tag leads to the layer of Flux.", tag: "flux"},
		"FluxDigest":  {reason: "So does the digest of its manifest.", digest: flux},
		"Layer":       {reason: "A layer is what it is.", digest: blob},
		"Both":        {reason: "The digest goes before the tag.", tag: "missing", digest: blob},
		"Image":       {reason: "Of other manifests nobody knows what they mean.", tag: "image", err: "not a chart"},
		"Missing":     {reason: "A tag that is not there is named.", tag: "missing", err: `has no tag "missing"`},
		"NoDigest":    {reason: "So is a digest.", digest: digestOf(nil), err: "(404 Not Found)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref := Reference{Repository: s.host() + "/" + repo, Tag: tc.tag, Digest: tc.digest}
			got, err := newPuller(t).Artifact(t.Context(), s.plain("", ""), ref)
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nArtifact(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			want := Artifact{}
			if tc.err == "" {
				want = Artifact{Data: data, Digest: digestOf(data), Version: got.Version}
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
