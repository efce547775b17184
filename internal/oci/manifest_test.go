// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestManifest(t *testing.T) {
	s := newRegistry(t)
	digest := s.pushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("x"))
	other := digestOf([]byte("other"))

	cases := map[string]struct {
		reason    string
		repo      string
		reference string
		err       string
	}{
		"Tag":       {reason: "A tag leads to its manifest.", reference: "1.2.3"},
		"Digest":    {reason: "So does a digest.", reference: digest},
		"Scheme":    {reason: "A scheme means nothing.", repo: "https://" + s.host() + "/" + repo, reference: "1.2.3"},
		"NoTag":     {reason: "Host and repository are named.", reference: "9.9.9", err: "host \"" + s.host() + "\" has no tag \"9.9.9\" in repository \"" + repo + "\" (404 Not Found)"},
		"NoDigest":  {reason: "Host and repository are named.", reference: other, err: "host \"" + s.host() + "\" has no \"" + other + "\" in repository \"" + repo + "\" (404 Not Found)"},
		"BadTag":    {reason: "A plus cannot be in a tag.", reference: "1.2.3+b", err: "is neither a tag nor a digest"},
		"Empty":     {reason: "There is no latest.", reference: "", err: "is neither a tag nor a digest"},
		"BadDigest": {reason: "Only SHA-256 is known.", reference: "sha512:00", err: "malformed digest"},
		"NotListed": {reason: "Lists hold for manifests too.", repo: "example.org/" + repo, reference: "1.2.3", err: "registry host \"example.org\" is not allowed"},
		"BadPath":   {reason: "The repository is named.", repo: s.host() + "/UPPER", reference: "1.2.3", err: "malformed repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.repo == "" {
				tc.repo = s.host() + "/" + repo
			}
			data, got, err := newPuller(t).Manifest(t.Context(), s.plain("", ""), tc.repo, tc.reference)
			if tc.err != "" {
				if !strings.Contains(text(err), tc.err) || !strings.HasPrefix(text(err), "cannot pull manifest \"") || data != nil || got != "" {
					t.Errorf("\n%s\nManifest(...): got %q, %q, error %q, want only one with %q", tc.reason, data, got, text(err), tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nManifest(...): %v", tc.reason, err)
			}
			if got != digest || digestOf(data) != digest {
				t.Errorf("\n%s\nManifest(...): got %q with content of %q, want %q", tc.reason, got, digestOf(data), digest)
			}
		})
	}
}

// TestManifestCached holds that a digest costs one request in all, and a tag
// one HEAD each time.
func TestManifestCached(t *testing.T) {
	s := newRegistry(t)
	digest := s.pushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("one"))
	p := newPuller(t)
	pull := func(reference string) string {
		t.Helper()
		s.forget()
		_, got, err := p.Manifest(t.Context(), s.plain("", ""), s.host()+"/"+repo, reference)
		if err != nil {
			t.Fatalf("Manifest(%q): %v", reference, err)
		}
		return got
	}

	pull("1.2.3")
	if n := s.count(http.MethodGet, "/manifests/"); n != 1 {
		t.Errorf("Manifest(tag): want 1 GET, got %d", n)
	}
	if got := pull("1.2.3"); got != digest || s.count(http.MethodGet, "/manifests/") != 0 || s.count(http.MethodHead, "/manifests/") != 1 {
		t.Errorf("Manifest(tag) again: got %q, want %q for one HEAD", got, digest)
	}
	if got := pull(digest); got != digest || s.count("", "/manifests/") != 0 {
		t.Errorf("Manifest(digest) after the tag: got %q, want %q for no request", got, digest)
	}
	moved := s.pushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("two"))
	if got := pull("1.2.3"); got != moved {
		t.Errorf("Manifest(moved tag): got %q, want %q", got, moved)
	}
}

// TestManifestOther holds that a registry cannot deliver another manifest than
// the one of the digest.
func TestManifestOther(t *testing.T) {
	s := newRegistry(t)
	digest := s.pushManifest(t, repo, "1.2.3", imageConfig, "application/x", []byte("one"))
	s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		_, _ = w.Write([]byte("{}"))
		return true
	})
	_, _, err := newPuller(t).Manifest(t.Context(), s.plain("", ""), s.host()+"/"+repo, digest)
	if !strings.Contains(text(err), "delivered other content") {
		t.Errorf("Manifest(...): got error %q, want one that says other content", text(err))
	}
}

func TestReadLayer(t *testing.T) {
	plain := tarOf(t, file("a.yaml", "kind: A"))
	// The oldest tar has no magic.
	old := append([]byte(nil), plain...)
	clear(old[257:265])
	copy(old[148:156], "        ")
	sum := 0
	for _, b := range old[:512] {
		sum += int(b)
	}
	copy(old[148:156], octal(sum))

	cases := map[string]struct {
		reason string
		data   string
		limits Limits
		want   []File
		err    string
	}{
		"Gzip":       {reason: "Folders are packed.", data: string(gzipOf(t, plain)), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"Tar":        {reason: "Newer modules have no gzip.", data: string(plain), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"OldTar":     {reason: "The checksum tells as well.", data: string(old), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"Text":       {reason: "A raw manifest was one file for long.", data: "kind: A\n", want: []File{{Name: "layer.yaml", Data: []byte("kind: A\n")}}},
		"LongText":   {reason: "Also if it is longer than a header.", data: strings.Repeat("kind: A\n", 100), want: []File{{Name: "layer.yaml", Data: []byte(strings.Repeat("kind: A\n", 100))}}},
		"Nothing":    {reason: "An empty layer is no file.", data: "", err: "it holds no files"},
		"Truncated":  {reason: "A damaged archive is no text.", data: string(plain[:515]), err: "it is cut off"},
		"BrokenGzip": {reason: "Neither is a damaged gzip.", data: "\x1f\x8bxx", err: "cannot read archive"},
		"Zip":        {reason: "Another kind of archive is none.", data: "PK\x03\x04\x00\x00", err: "neither a tar, nor a tar with gzip, nor text"},
		"Large":      {reason: "The limit is for text too.", data: "kind: A", limits: Limits{Compressed: 3}, err: "it is larger than the limit of 3 bytes"},
		"LargeTar":   {reason: "The limits are handed on.", data: string(plain), limits: Limits{Uncompressed: 600}, err: "is larger than the limit of 600 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ReadLayer([]byte(tc.data), tc.limits)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nReadLayer(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReadLayer(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// octal is a checksum as tar writes it.
func octal(sum int) string {
	return fmt.Sprintf("%06o\x00 ", sum)
}

func FuzzReadLayer(f *testing.F) {
	f.Add([]byte("kind: A"))
	f.Add(tarOf(f, file("a", "b")))
	f.Add(gzipOf(f, tarOf(f, file("a", "b"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := ReadLayer(data, Limits{Compressed: 1 << 16, Uncompressed: 1 << 16, Files: 10})
		if (err == nil) != (len(files) > 0) {
			t.Errorf("ReadLayer(...): got %d files and error %v", len(files), err)
		}
	})
}
