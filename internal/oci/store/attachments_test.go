// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

const signature = "dev.cosignproject.cosign/signature"

// signed writes a manifest with one layer for each signature under a tag.
func signed(tb testing.TB, to store.Store, tag string, by ...string) {
	tb.Helper()
	m := v1.Manifest{MediaType: v1.MediaTypeImageManifest, Layers: []v1.Descriptor{}}
	m.SchemaVersion = 2
	m.Config = storetest.Put(tb, to, []byte("{}"))
	for _, b := range by {
		l := storetest.Put(tb, to, []byte("payload of "+b))
		l.Annotations = map[string]string{signature: b}
		m.Layers = append(m.Layers, l)
	}
	storetest.PutManifest(tb, to, m, tag)
}

// manifestOf returns the manifest with a tag.
func manifestOf(tb testing.TB, s store.Store, tag string) *store.Manifest {
	tb.Helper()
	data, _, err := s.Manifest(tb.Context(), tag)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := store.ParseManifest(data)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// signers returns the signatures under a tag whose layers exist.
func signers(tb testing.TB, s store.Store, tag string) []string {
	tb.Helper()
	m := manifestOf(tb, s, tag)
	if _, err := store.ReadBlob(tb.Context(), s, string(m.Config.Digest), 0); err != nil {
		tb.Errorf("config: %v", err)
	}
	var out []string
	for _, l := range m.Layers {
		data, err := store.ReadBlob(tb.Context(), s, string(l.Digest), 0)
		if by := l.Annotations[signature]; err != nil || string(data) != "payload of "+by {
			tb.Errorf("signature of %s: %q, %v", by, data, err)
		}
		out = append(out, l.Annotations[signature])
	}
	return out
}

// TestCopySignatures checks that no signature is lost, with and without Overwrite.
func TestCopySignatures(t *testing.T) {
	s := newServer(t)
	source := repositoryAt(t, s, "source")
	root := storetest.Artifact(t, source, "1", "one", 1, nil)
	attached := store.FallbackTag(string(root.Digest))
	cases := map[string]struct {
		reason    string
		suffix    string
		ours      []string
		theirs    []string
		overwrite bool
		want      []string
		fail      string
	}{
		"More":          {reason: "An attachment that is missing is written.", ours: []string{"a", "b"}, theirs: []string{"a"}, want: []string{"a", "b"}},
		"Less":          {reason: "An attachment that only the destination has is kept.", ours: []string{"a"}, theirs: []string{"a", "b"}, want: []string{"a", "b"}},
		"Other":         {reason: "Other attachments are not replaced.", ours: []string{"a"}, theirs: []string{"b"}, want: []string{"b"}, fail: "use --overwrite to keep those of both"},
		"MoreOverwrite": {reason: "More signatures replace fewer ones on request, too.", ours: []string{"a", "b"}, theirs: []string{"a"}, overwrite: true, want: []string{"a", "b"}},
		"LessOverwrite": {reason: "Fewer signatures never replace more of them.", ours: []string{"a"}, theirs: []string{"a", "b"}, overwrite: true, want: []string{"a", "b"}},
		"Merge":         {reason: "Signatures of both sides are merged on request.", ours: []string{"a", "b"}, theirs: []string{"c", "b"}, overwrite: true, want: []string{"c", "b", "a"}},
		"Attestations":  {reason: "Attestations are merged, too.", suffix: ".att", ours: []string{"a"}, theirs: []string{"b"}, overwrite: true, want: []string{"b", "a"}},
		"Bill": {
			reason: "Two bills of materials cannot be merged.", suffix: ".sbom", ours: []string{"a"}, theirs: []string{"b"},
			want: []string{"b"}, fail: "delete the tag there",
		},
		"BillOverwrite": {
			reason: "A bill of materials is replaced on request.", suffix: ".sbom", ours: []string{"a"}, theirs: []string{"b"}, overwrite: true, want: []string{"a"},
		},
	}
	for name, tc := range cases {
		for kind, to := range map[string]store.Store{"Remote": repositoryAt(t, s, strings.ToLower(name)), "Layout": newLayout(t, filepath.Join(t.TempDir(), name))} {
			t.Run(name+kind, func(t *testing.T) {
				from := repositoryAt(t, s, "source-"+strings.ToLower(name+kind))
				copied(t, source, from, store.CopyOptions{Tag: "1"})
				tag := attached + ".sig"
				if tc.suffix != "" {
					tag = attached + tc.suffix
				}
				signed(t, from, tag, tc.ours...)
				signed(t, to, tag, tc.theirs...)
				// The second copy finds the same state, and does not write.
				for range 2 {
					o := store.CopyOptions{Tag: "x", Attachments: true, Overwrite: tc.overwrite, Merge: mergeLayers}
					got, err := store.Copy(t.Context(), from, "1", to, o)
					var exists *store.ExistsError
					if errors.As(err, &exists) != (tc.fail != "") || !strings.Contains(text(err), tc.fail) || tc.fail == "" && err != nil {
						t.Errorf("\n%s\nCopy(...): %+v, %v", tc.reason, got, err)
					}
					if diff := cmp.Diff(tc.want, signers(t, to, tag)); diff != "" {
						t.Errorf("\n%s\nCopy(...): -want, +got:\n%s", tc.reason, diff)
					}
				}
				if tc.fail == "" {
					o := store.CopyOptions{Tag: "x", Attachments: true, Overwrite: tc.overwrite, Merge: mergeLayers}
					if got := copied(t, from, to, o); got.Uploaded != 0 {
						t.Errorf("\n%s\nCopy(...) again: want nothing written, got %+v", tc.reason, got)
					}
				}
			})
		}
	}
}

// mergeLayers returns a manifest with the layers of two manifests, and its config.
func mergeLayers(theirs, ours []byte) (manifest, config []byte, err error) {
	merged, other, config := map[string]any{}, map[string]any{}, []byte("{}")
	if err := errors.Join(json.Unmarshal(theirs, &merged), json.Unmarshal(ours, &other)); err != nil {
		return nil, nil, err
	}
	layers := merged["layers"].([]any)
	for _, l := range other["layers"].([]any) {
		if !slices.ContainsFunc(layers, func(have any) bool { return cmp.Equal(have, l) }) {
			layers = append(layers, l)
		}
	}
	merged["layers"] = layers
	merged["config"] = map[string]any{"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest.FromBytes(config), "size": len(config)}
	manifest, err = json.Marshal(merged)
	return manifest, config, err
}

func copied(tb testing.TB, from, to store.Store, o store.CopyOptions) store.Copied {
	tb.Helper()
	got, err := store.Copy(tb.Context(), from, "1", to, o)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// layerOf returns the digest of the first layer of a manifest.
func layerOf(tb testing.TB, s store.Store, tag string) string {
	tb.Helper()
	m := manifestOf(tb, s, tag)
	return string(m.Layers[0].Digest)
}

// TestCopySignaturesRace checks that a signature that is added to the destination while blobs are copied is not lost.
func TestCopySignaturesRace(t *testing.T) {
	for _, kind := range []string{"Remote", "Layout"} {
		cases := map[string]struct {
			reason    string
			ours      []string
			had       []string
			added     []string
			overwrite bool
			want      []string
			fail      bool
		}{
			"More":  {reason: "What was added makes the copy unnecessary.", ours: []string{"a", "b"}, had: []string{"a"}, added: []string{"a", "b", "c"}, want: []string{"a", "b", "c"}},
			"First": {reason: "A tag that did not exist is compared, too.", ours: []string{"a"}, added: []string{"a", "c"}, want: []string{"a", "c"}},
			"Other": {reason: "Without Overwrite, both cannot be kept.", ours: []string{"a", "b"}, had: []string{"a"}, added: []string{"a", "c"}, want: []string{"a", "c"}, fail: true},
			"Merge": {reason: "With Overwrite, both are kept.", ours: []string{"a", "b"}, had: []string{"a"}, added: []string{"a", "c"}, overwrite: true, want: []string{"a", "c", "b"}},
		}
		for name, tc := range cases {
			t.Run(name+kind, func(t *testing.T) {
				from := newServer(t)
				source := repositoryAt(t, from, "source")
				root := storetest.Artifact(t, source, "1", "one", 1, nil)
				tag := store.FallbackTag(string(root.Digest)) + ".sig"
				only := layerOf(t, source, "1")
				signed(t, source, tag, tc.ours...)
				var to, other store.Store
				at := from
				if kind == "Layout" {
					path := filepath.Join(t.TempDir(), "layout")
					to, other = newLayout(t, path), newLayout(t, path)
				} else {
					at = newServer(t)
					to, other = repositoryAt(t, at, "to"), repositoryAt(t, at, "to")
				}
				if tc.had != nil {
					signed(t, other, tag, tc.had...)
				}
				add := sync.OnceFunc(func() { signed(t, other, tag, tc.added...) })
				// The first request for a blob that only the artifact has: of the destination, to find out whether it exists, or
				// of the source. No store is locked then that the other client needs.
				at.Misbehave(func(_ http.ResponseWriter, r *http.Request) bool {
					if strings.HasSuffix(r.URL.Path, "/blobs/"+only) {
						add()
					}
					return false
				})
				_, err := store.Copy(t.Context(), source, "1", to, store.CopyOptions{Tag: "x", Attachments: true, Overwrite: tc.overwrite, Merge: mergeLayers})
				var exists *store.ExistsError
				if errors.As(err, &exists) != tc.fail || !tc.fail && err != nil {
					t.Errorf("\n%s\nCopy(...): %v", tc.reason, err)
				}
				if diff := cmp.Diff(tc.want, signers(t, to, tag)); diff != "" {
					t.Errorf("\n%s\nCopy(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}
