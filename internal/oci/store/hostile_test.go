// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestCopyEndlessReferrers checks that a registry cannot make a client store or request an unlimited number of referrers.
func TestCopyEndlessReferrers(t *testing.T) {
	cases := map[string]struct {
		reason string
		pages  bool
		large  bool
	}{
		"Pages":   {reason: "A list without an end.", pages: true},
		"Missing": {reason: "A list of what is not there."},
		"Large":   {reason: "Manifests that are as large as may be.", large: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			from := repositoryAt(t, s, "x")
			root := storetest.Artifact(t, from, "1", "one", 1, nil)
			manifests := map[string][]byte{}
			list := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
			for i := range 3000 {
				data := fmt.Append(nil, i)
				if tc.large && i < 40 {
					data = largeManifest(t, i, root)
					manifests[oci.DigestOf(data)] = data
				}
				list.Manifests = append(list.Manifests, v1.Descriptor{
					MediaType: v1.MediaTypeImageManifest, Digest: digest.Digest(oci.DigestOf(data)), Size: int64(len(data)),
				})
				if tc.large && i == 39 {
					break
				}
			}
			asked := 0
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.Contains(r.URL.Path, "/referrers/"):
					if tc.pages {
						w.Header().Set("Link", `<`+r.URL.Path+`?page=2>; rel="next"`)
					}
					w.Header().Set("Content-Type", v1.MediaTypeImageIndex)
					_ = json.NewEncoder(w).Encode(list)
					asked++
					return true
				case strings.Contains(r.URL.Path, "/manifests/sha256:") && !strings.HasSuffix(r.URL.Path, string(root.Digest)):
					asked++
					if data, ok := manifests["sha256:"+r.URL.Path[len(r.URL.Path)-64:]]; ok {
						_, _ = w.Write(data)
						return true
					}
					w.WriteHeader(http.StatusNotFound)
					return true
				}
				return false
			})
			to := newLayout(t, t.TempDir())
			_, err := store.Copy(t.Context(), from, "1", to, store.CopyOptions{Tag: "1", Attachments: true})
			if err == nil || asked > store.MaxAttachments+10 {
				t.Errorf("\n%s\nCopy(...): %d requests, %v", tc.reason, asked, err)
			}
		})
	}
}

func largeManifest(t *testing.T, i int, root v1.Descriptor) []byte {
	t.Helper()
	m := v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Subject: &root,
		Config: root, Layers: []v1.Descriptor{},
		Annotations: map[string]string{"x": strings.Repeat("x", 3<<20), "n": strconv.Itoa(i)},
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
