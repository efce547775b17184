// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// TestLayoutManyTimes holds that an index which lists a large manifest again and
// again is not worth reading it again and again.
func TestLayoutManyTimes(t *testing.T) {
	dir := t.TempDir()
	l := newLayout(t, dir)
	big := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: put(t, l, []byte("{}"))}
	layer := put(t, l, []byte("x"))
	for range 20_000 {
		big.Layers = append(big.Layers, layer)
	}
	// All of them are attached to something, so that none is what the layout is about.
	big.Subject = &layer
	d := putManifest(t, l, big, "")
	i := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for range maxListed {
		i.Manifests = append(i.Manifests, d)
	}
	data, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if err := os.WriteFile(filepath.Join(dir, indexFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	l = openLayout(t, dir)
	begin := time.Now()
	if _, _, err := l.Root(t.Context()); err == nil {
		t.Error("Root(): no error")
	}
	if all, err := l.referrers(t.Context(), digestOf([]byte("x"))); err != nil || len(all) != maxListed {
		t.Errorf("referrers(...): %d, %v", len(all), err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Root() and referrers(...) took %s", took)
	}
}

// TestLayoutCancelled holds that looking through a large layout can be stopped.
func TestLayoutCancelled(t *testing.T) {
	l := newLayout(t, t.TempDir())
	d := artifact(t, l, "1", "one", 1, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Root(ctx); err == nil {
		t.Error("Root(): no error")
	}
	if _, err := l.referrers(ctx, string(d.Digest)); err == nil {
		t.Error("referrers(...): no error")
	}
}

// TestLayoutOddPartial holds that what lies where a blob is half written is no
// trap: neither a link to something else of the layout, nor a pipe.
func TestLayoutOddPartial(t *testing.T) {
	data := []byte("the content of a blob")
	cases := map[string]struct {
		reason string
		make   func(path string) error
	}{
		"Link":   {reason: "A link to the index.", make: func(path string) error { return os.Symlink("../../"+indexFile, path) }},
		"Pipe":   {reason: "A pipe, which nobody writes to.", make: mkfifo},
		"Folder": {reason: "A folder.", make: func(path string) error { return os.Mkdir(path, 0o700) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLayout(t, dir)
			artifact(t, l, "1", "one", 1, nil)
			before := filesOf(t, dir)[indexFile]
			for _, content := range []string{string(data), "other"} {
				if err := tc.make(filepath.Join(dir, partialName(digestOf([]byte(content))))); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error, 1)
			go func() {
				err := l.PutBlob(t.Context(), Content{Digest: digestOf(data), Size: int64(len(data))}, opener(data))
				if err == nil {
					err = l.Close()
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("\n%s\nPutBlob(...), Close(): %v", tc.reason, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("\n%s\nPutBlob(...), Close(): still running", tc.reason)
			}
			if after := filesOf(t, filepath.Join(dir, "."))[indexFile]; after != before {
				t.Errorf("\n%s\nPutBlob(...): changed the index", tc.reason)
			}
		})
	}
}

// TestCopyEndlessReferrers holds that a registry cannot make us keep or ask for
// all that it can think of.
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
			from := s.store(t, "x")
			root := artifact(t, from, "1", "one", 1, nil)
			manifests := map[string][]byte{}
			list := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
			for i := range 3000 {
				data := fmt.Append(nil, i)
				if tc.large && i < 40 {
					data = largeManifest(t, i, root)
					manifests[digestOf(data)] = data
				}
				list.Manifests = append(list.Manifests, v1.Descriptor{
					MediaType: v1.MediaTypeImageManifest, Digest: digest.Digest(digestOf(data)), Size: int64(len(data)),
				})
				if tc.large && i == 39 {
					break
				}
			}
			asked := 0
			s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
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
			_, err := Copy(t.Context(), from, "1", to, CopyOptions{Tag: "1", Attachments: true})
			if err == nil || asked > maxAttachments+10 {
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

// TestNextPage holds that a list goes on at the same host only.
func TestNextPage(t *testing.T) {
	cases := map[string]struct{ link, want string }{
		"None":     {},
		"Path":     {link: `</v2/x/tags/list?last=b>; rel="next"`, want: "/v2/x/tags/list?last=b"},
		"Relative": {link: `<list?last=b>; rel="next"`, want: "tags/list?last=b"},
		"Host":     {link: `<https://evil.example.org/v2/x/tags/list>; rel="next"`, want: "/v2/x/tags/list"},
		"Slashes":  {link: `<////evil.example.org/v2>; rel="next"`},
		"Mixed":    {link: `<https://a.example.org//evil.example.org/v2>; rel="next"`},
		"Scheme":   {link: `<x://evil>; rel="next"`},
		"Opaque":   {link: `<mailto:a@b>; rel="next"`},
		"Nested":   {link: `<a?https://evil.example.org>; rel="next"`, want: "tags/a?https://evil.example.org"},
		"Prev":     {link: `</v2/x>; rel="prev"`},
	}
	for name, tc := range cases {
		h := http.Header{}
		if tc.link != "" {
			h.Set("Link", tc.link)
		}
		if got := nextPage(h); got != tc.want {
			t.Errorf("%s: nextPage(%q): %q, want %q", name, tc.link, got, tc.want)
		}
	}
}
