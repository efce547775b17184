// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

func TestNew(t *testing.T) {
	for _, bad := range []string{"", "x/y", "https://reg.example.org/x", "reg.example.org/x:1", "reg.example.org/x@sha256:" + strings.Repeat("0", 64)} {
		if _, err := New(bad, nil); err == nil {
			t.Errorf("New(%q): no error", bad)
		}
	}
	if _, err := New("reg.example.org/x", oci.Registries{{Host: "other.example.org"}}); !errors.As(err, new(*oci.RegistryNotAllowedError)) {
		t.Errorf("New(...) of what is not listed: %v", err)
	}
	r, err := New("REG.example.org:5000/a/b", nil)
	if err != nil || r.String() != "reg.example.org:5000/a/b" {
		t.Errorf("New(...): %v, %v", r, err)
	}
}

// TestRemoteBlob checks that a blob is read from an offset, even if the registry ignores the offset or connections break.
func TestRemoteBlob(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	ranged := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
	cases := map[string]struct {
		reason string
		serve  func(n int, w http.ResponseWriter, r *http.Request)
		offset int64
		asks   int // Expected number of requests for the blob, or 0 if it is not checked.
		err    string
	}{
		"Whole":  {reason: "A blob is read from the beginning.", serve: func(_ int, w http.ResponseWriter, r *http.Request) { ranged(w, r) }},
		"Range":  {reason: "A blob is read from an offset.", offset: 5, asks: 1, serve: func(_ int, w http.ResponseWriter, r *http.Request) { ranged(w, r) }},
		"End":    {reason: "An offset at the end sends no request.", offset: 200_000, serve: func(_ int, w http.ResponseWriter, r *http.Request) { ranged(w, r) }},
		"Ignore": {reason: "Ranges may be ignored.", offset: 5, asks: 1, serve: func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }},
		"Refuse": {reason: "A range request can be rejected.", offset: 5, asks: 2, serve: func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			_, _ = w.Write(data)
		}},
		"Other": {reason: "A response can have another range.", offset: 5, asks: 2, serve: func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 7-9/20000")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[7:10])
				return
			}
			_, _ = w.Write(data)
		}},
		"Breaks": {reason: "A connection may break, more than once.", serve: func(n int, w http.ResponseWriter, r *http.Request) {
			if n < 6 {
				ranged(&breaking{ResponseWriter: w, left: 20_000}, r)
				return
			}
			ranged(w, r)
		}},
		"Evil": {reason: "Other content is found.", err: "digest mismatch", serve: func(_ int, w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.ReplaceAll(data, []byte("5"), []byte("x")))
		}},
		"Dead": {reason: "There is an end to it.", err: "was interrupted", serve: func(n int, w http.ResponseWriter, r *http.Request) {
			ranged(&breaking{ResponseWriter: w, left: 0, header: n > 1}, r)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			n := 0
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				n++
				tc.serve(n, w, r)
				return true
			})
			b, err := repositoryAt(t, s, "x").Blob(t.Context(), oci.DigestOf(data), tc.offset)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(b)
				_ = b.Close()
			}
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if tc.asks > 0 && n != tc.asks {
				t.Errorf("\n%s\nBlob(...): asked %d times, want %d", tc.reason, n, tc.asks)
			}
			if tc.err == "" && !bytes.Equal(got, data[tc.offset:]) {
				t.Errorf("\n%s\nBlob(...): %d bytes", tc.reason, len(got))
			}
		})
	}
}

// breaking aborts the response after some bytes.
type breaking struct {
	http.ResponseWriter

	left   int
	header bool
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) <= b.left {
		b.left -= len(p)
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:b.left])
	b.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestRemoteNotFound(t *testing.T) {
	r := repositoryAt(t, newServer(t), "x")
	var missing *store.NotFoundError
	if _, _, err := r.Manifest(t.Context(), "1"); !errors.As(err, &missing) {
		t.Errorf("Manifest(...): %v", err)
	}
	if _, err := r.Blob(t.Context(), oci.DigestOf(nil), 0); !errors.As(err, &missing) {
		t.Errorf("Blob(...): %v", err)
	}
	if _, err := r.Tags(t.Context()); !errors.As(err, &missing) {
		t.Errorf("Tags(): %v", err)
	}
	if ok, err := r.Has(t.Context(), oci.DigestOf(nil)); ok || err != nil {
		t.Errorf("Has(...): %t, %v", ok, err)
	}
	for _, bad := range []string{"", "a/b", "../x", "sha256:x", "a?b"} {
		if _, _, err := r.Manifest(t.Context(), bad); err == nil || errors.As(err, &missing) {
			t.Errorf("Manifest(%q): %v", bad, err)
		}
	}
}

func TestRemoteManifest(t *testing.T) {
	s := newServer(t)
	r := repositoryAt(t, s, "x")
	one := storetest.Artifact(t, r, "1", "one", 1, nil)
	two := storetest.Artifact(t, r, "2", "two", 1, nil)
	data, _, err := r.Manifest(t.Context(), "2")
	if err != nil {
		t.Fatal(err)
	}
	serve := func(body []byte) {
		s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			_, _ = w.Write(body)
			return true
		})
	}
	serve(data)
	if _, _, err := r.Manifest(t.Context(), string(one.Digest)); !strings.Contains(text(err), "digest mismatch") {
		t.Errorf("Manifest(...) that is another one: %v", err)
	}
	if _, digest, err := r.Manifest(t.Context(), "1"); digest != string(two.Digest) || err != nil {
		t.Errorf("Manifest(...) of a tag that moved: %s, %v", digest, err)
	}
	serve(make([]byte, store.MaxManifest+1))
	if _, _, err := r.Manifest(t.Context(), "1"); !strings.Contains(text(err), "larger than the limit") {
		t.Errorf("Manifest(...) that is too large: %v", err)
	}
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		w.Header().Set("Docker-Content-Digest", string(one.Digest))
		w.WriteHeader(http.StatusCreated)
		return true
	})
	if err := r.PutManifest(t.Context(), data, "2"); !strings.Contains(text(err), "digest mismatch") {
		t.Errorf("PutManifest(...) that is changed: %v", err)
	}
	for _, bad := range []string{"", "{}", `{"schemaVersion":1}`, `{"schemaVersion":2,"manifests":[],"config":{}}`, `{"schemaVersion":2,"layers":[{"digest":"x"}]}`} {
		if err := r.PutManifest(t.Context(), []byte(bad), "2"); err == nil {
			t.Errorf("PutManifest(%q): no error", bad)
		}
	}
}

func TestRemoteTags(t *testing.T) {
	s := newServer(t)
	pages := map[string][]string{"": {"b", "a", "not a tag"}, "b": {"d", "c"}, "d": {"a"}}
	next := map[string]string{"": "b", "b": "d"}
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/tags/list") {
			return false
		}
		last := r.URL.Query().Get("last")
		if n := next[last]; n != "" {
			w.Header().Set("Link", fmt.Sprintf(`<%s?n=2&last=%s>; rel="next"`, map[bool]string{true: "list", false: "https://evil.example.org/v2/x/tags/list"}[last == ""], n))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tags": pages[last]})
		return true
	})
	got, err := repositoryAt(t, s, "x").Tags(t.Context())
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" || err != nil {
		t.Errorf("Tags(): %v, -want, +got:\n%s", err, diff)
	}
	next["d"] = ""
	next["b"] = "b"
	if _, err := repositoryAt(t, s, "x").Tags(t.Context()); !strings.Contains(text(err), "more than") {
		t.Errorf("Tags() without an end: %v", err)
	}
}

// TestRemotePutBlob checks that invalid content is not uploaded.
func TestRemotePutBlob(t *testing.T) {
	r := repositoryAt(t, newServer(t), "x")
	good := bytes.Repeat([]byte("x"), 100_000)
	c := store.Content{Digest: oci.DigestOf(good), Size: int64(len(good))}
	cases := map[string]struct {
		reason string
		open   func(int64) (io.ReadCloser, error)
		err    string
	}{
		"Other": {reason: "The content must match the digest.", open: storetest.Opener(bytes.Repeat([]byte("y"), 100_000)), err: "digest mismatch"},
		"Short": {reason: "The content must not be too short.", open: storetest.Opener(good[1:]), err: "is truncated"},
		"Long":  {reason: "The content must not be too long.", open: storetest.Opener(append([]byte("x"), good...)), err: "larger than the expected"},
		"Fails": {reason: "A source that fails is named.", open: func(int64) (io.ReadCloser, error) { return nil, errors.New("no source") }, err: "no source"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := repositoryAt(t, newServer(t), "x")
			if err := r.PutBlob(t.Context(), c, tc.open); !strings.Contains(text(err), tc.err) || err == nil {
				t.Errorf("\n%s\nPutBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if ok, err := r.Has(t.Context(), c.Digest); ok && name != "Long" || err != nil {
				t.Errorf("\n%s\nHas(...): %t, %v", tc.reason, ok, err)
			}
		})
	}
	storetest.Put(t, r, nil)
	if ok, err := r.Has(t.Context(), oci.DigestOf(nil)); !ok || err != nil {
		t.Errorf("Has(...) of what is empty: %t, %v", ok, err)
	}
}

// TestRemoteMediaTypes checks that a registry receives the media types of its content.
func TestRemoteMediaTypes(t *testing.T) {
	s := newServer(t)
	storetest.Multi(t, repositoryAt(t, s, "x"), "1")
	got := map[string]int{}
	for _, h := range s.Headers() {
		if t := h.Get("Content-Type"); t != "" {
			got[t]++
		}
	}
	// An index with two manifests, each with a config and a layer.
	want := map[string]int{v1.MediaTypeImageIndex: 1, v1.MediaTypeImageManifest: 2, octets: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Content-Type: -want, +got:\n%s", diff)
	}
}

// TestRemoteReferrers checks that lists of referrers are stored if the registry does not maintain them.
func TestRemoteReferrers(t *testing.T) {
	for _, api := range []bool{false, true} {
		s := newServer(t, registry.WithReferrersSupport(api))
		r := repositoryAt(t, s, "x")
		root := storetest.Artifact(t, r, "1", "one", 1, nil)
		want := map[string]bool{}
		for i := range 3 {
			d := storetest.Artifact(t, r, "", fmt.Sprint("attached ", i), 1, &root)
			want[string(d.Digest)] = true
			// A second push changes nothing.
			storetest.Artifact(t, r, "", fmt.Sprint("attached ", i), 1, &root)
		}
		got, err := r.Referrers(t.Context(), string(root.Digest))
		have := map[string]bool{}
		for _, d := range got {
			have[string(d.Digest)] = true
		}
		if diff := cmp.Diff(want, have); diff != "" || err != nil || len(got) != 3 {
			t.Errorf("Referrers(...) with an API %t: %v, -want, +got:\n%s", api, err, diff)
		}
		if _, _, err := r.Manifest(t.Context(), store.FallbackTag(string(root.Digest))); (err == nil) == api {
			t.Errorf("list as a tag with an API %t: %v", api, err)
		}
	}
}
