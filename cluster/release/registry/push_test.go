// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// described returns an artifact with one part, and documents for both.
func described(t *testing.T) (a Artifact, part v1.Hash) {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, static.NewLayer([]byte("layer"), types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	if part, err = img.Digest(); err != nil {
		t.Fatal(err)
	}
	bill := Document{Name: "a.spdx.json", MediaType: "application/spdx+json", Data: []byte("{}\n")}
	origin := Document{Name: "provenance.json", MediaType: "application/vnd.in-toto+json", Data: []byte("[]\n")}
	return Artifact{
		Name: "image", Manifest: mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: img}),
		Documents: []Document{bill, origin}, Parts: map[v1.Hash][]Document{part: {bill}},
	}, part
}

// referrers returns the types of the referrers of a manifest, sorted. It reads them from the referrers themselves, because this
// registry lists the types of their configurations.
func referrers(t *testing.T, subject name.Digest) []string {
	t.Helper()
	index, err := remote.Referrers(subject, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	all, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range all.Manifests {
		found, err := remote.Get(subject.Digest(all.Manifests[i].Digest.String()), remote.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := v1.ParseManifest(bytes.NewReader(found.Manifest))
		if err != nil || m.Subject == nil || m.Subject.Digest.String() != subject.DigestStr() {
			t.Errorf("the subject of a referrer of %s is %v, %v", subject, m, err)
			continue
		}
		if m.Annotations["org.opencontainers.image.version"] != "v1.0.0" {
			t.Errorf("the annotations of a referrer of %s don't name the release: %v", subject, m.Annotations)
		}
		out = append(out, m.ArtifactType)
	}
	slices.Sort(out)
	return out
}

func TestPush(t *testing.T) {
	cases := map[string]struct {
		reason    string
		referrers bool
	}{
		"API": {reason: "Registries list referrers.", referrers: true},
		"Tag": {reason: "Older registries have an index with a tag instead."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(tc.referrers)))
			defer server.Close()
			a, part := described(t)
			base := strings.TrimPrefix(server.URL, "http://") + "/team"
			// The second push changes nothing.
			for range 2 {
				got, err := Push(t.Context(), base, "v1.0.0", a)
				if err != nil {
					t.Fatal(err)
				}
				head, err := remote.Head(got.Tag("v1.0.0"), remote.WithContext(t.Context()))
				if err != nil || head.Digest.String() != got.DigestStr() {
					t.Errorf("\n%s\nPush(...): got %s, and the tag has %v, %v", tc.reason, got, head, err)
				}
				want := []string{"application/spdx+json", "application/vnd.in-toto+json"}
				if diff := cmp.Diff(want, referrers(t, got)); diff != "" {
					t.Errorf("\n%s\nreferrers of the index: -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(want[:1], referrers(t, got.Digest(part.String()))); diff != "" {
					t.Errorf("\n%s\nreferrers of the part: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
