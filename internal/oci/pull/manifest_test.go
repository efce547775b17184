// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

func TestManifest(t *testing.T) {
	s := ocitest.NewRegistry(t)
	digest := s.PushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("x"))
	other := oci.DigestOf([]byte("other"))

	cases := map[string]struct {
		reason    string
		repo      string
		reference string
		err       string
	}{
		"Tag":       {reason: "A tag leads to its manifest.", reference: "1.2.3"},
		"Digest":    {reason: "A digest selects the manifest.", reference: digest},
		"Scheme":    {reason: "A scheme means nothing.", repo: "https://" + s.Host() + "/" + repo, reference: "1.2.3"},
		"NoTag":     {reason: "Host and repository are named.", reference: "9.9.9", err: "host \"" + s.Host() + "\" has no tag \"9.9.9\" in repository \"" + repo + "\" (404 Not Found)"},
		"NoDigest":  {reason: "Host and repository are named.", reference: other, err: "host \"" + s.Host() + "\" has no \"" + other + "\" in repository \"" + repo + "\" (404 Not Found)"},
		"BadTag":    {reason: "A plus cannot be in a tag.", reference: "1.2.3+b", err: "is neither a tag nor a digest"},
		"Empty":     {reason: "There is no latest.", reference: "", err: "is neither a tag nor a digest"},
		"BadDigest": {reason: "Only SHA-256 is known.", reference: "sha512:00", err: "malformed digest"},
		"NotListed": {reason: "Lists hold for manifests too.", repo: "example.org/" + repo, reference: "1.2.3", err: "registry host \"example.org\" is not allowed"},
		"BadPath":   {reason: "The repository is named.", repo: s.Host() + "/UPPER", reference: "1.2.3", err: "malformed repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.repo == "" {
				tc.repo = s.Host() + "/" + repo
			}
			data, got, err := newClient(t).Manifest(t.Context(), s.Plain("", ""), tc.repo, tc.reference)
			if tc.err != "" {
				if !strings.Contains(text(err), tc.err) || !strings.HasPrefix(text(err), "cannot pull manifest \"") || data != nil || got != "" {
					t.Errorf("\n%s\nManifest(...): got %q, %q, error %q, want only one with %q", tc.reason, data, got, text(err), tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nManifest(...): %v", tc.reason, err)
			}
			if got != digest || oci.DigestOf(data) != digest {
				t.Errorf("\n%s\nManifest(...): got %q with content of %q, want %q", tc.reason, got, oci.DigestOf(data), digest)
			}
		})
	}
}

// TestManifestCached checks that a digest costs a single request in total, and a tag one HEAD request each time.
func TestManifestCached(t *testing.T) {
	s := ocitest.NewRegistry(t)
	digest := s.PushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("one"))
	p := newClient(t)
	pull := func(reference string) string {
		t.Helper()
		s.Forget()
		_, got, err := p.Manifest(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, reference)
		if err != nil {
			t.Fatalf("Manifest(%q): %v", reference, err)
		}
		return got
	}

	pull("1.2.3")
	if n := s.Count(http.MethodGet, "/manifests/"); n != 1 {
		t.Errorf("Manifest(tag): want 1 GET, got %d", n)
	}
	if got := pull("1.2.3"); got != digest || s.Count(http.MethodGet, "/manifests/") != 0 || s.Count(http.MethodHead, "/manifests/") != 1 {
		t.Errorf("Manifest(tag) again: got %q, want %q for one HEAD", got, digest)
	}
	if got := pull(digest); got != digest || s.Count("", "/manifests/") != 0 {
		t.Errorf("Manifest(digest) after the tag: got %q, want %q for no request", got, digest)
	}
	moved := s.PushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("two"))
	if got := pull("1.2.3"); got != moved {
		t.Errorf("Manifest(moved tag): got %q, want %q", got, moved)
	}
}

// TestManifestOther checks that a registry cannot deliver a manifest with a different digest.
func TestManifestOther(t *testing.T) {
	s := ocitest.NewRegistry(t)
	digest := s.PushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("one"))
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		_, _ = w.Write([]byte("{}"))
		return true
	})
	_, _, err := newClient(t).Manifest(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, digest)
	if !strings.Contains(text(err), "returned different content") {
		t.Errorf("Manifest(...): got error %q, want one that says other content", text(err))
	}
}
