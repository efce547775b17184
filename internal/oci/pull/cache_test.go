// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// cacheFiles returns the published and the temporary files in dir.
func cacheFiles(t *testing.T, dir string) (published, temporary []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if strings.HasPrefix(e.Name(), ".tmp-") {
			temporary = append(temporary, path)
			return nil
		}
		published = append(published, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return published, temporary
}

// TestCacheDamage checks that a damaged cache is repaired and never returned.
func TestCacheDamage(t *testing.T) {
	data := ocitest.Chart(t, "damage")
	cases := map[string]struct {
		reason string
		damage func(t *testing.T, path string) error
	}{
		"FlippedBit": {reason: "One bit is enough.", damage: func(_ *testing.T, path string) error { return os.WriteFile(path, flip(data, 7), 0o600) }},
		"Truncated":  {reason: "A crash may leave a part.", damage: func(_ *testing.T, path string) error { return os.Truncate(path, 5) }},
		"Empty":      {reason: "The file of a cached blob can be empty.", damage: func(_ *testing.T, path string) error { return os.Truncate(path, 0) }},
		"Removed":    {reason: "A user can delete the files of the cache.", damage: func(_ *testing.T, path string) error { return os.RemoveAll(filepath.Dir(path)) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, dir := ocitest.NewRegistry(t), t.TempDir()
			digest := s.Push(t, repo, data)
			p := newClient(t, WithCacheDir(dir))
			pull := func() {
				t.Helper()
				got, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, digest)
				if err != nil || !cmp.Equal(data, got) {
					t.Errorf("\n%s\nBlob(...): %d bytes, error %v", tc.reason, len(got), err)
				}
			}
			pull()
			published, _ := cacheFiles(t, dir)
			if len(published) != 1 {
				t.Fatalf("want one file in the cache, got %v", published)
			}
			if err := tc.damage(t, published[0]); err != nil {
				t.Fatal(err)
			}
			pull()
			pull()
			if n := s.Count("GET", "/blobs/"); n != 2 {
				t.Errorf("\n%s\nwant the blob to be pulled once more, got %d pulls", tc.reason, n)
			}
			if got, err := os.ReadFile(published[0]); err != nil || !cmp.Equal(data, got) {
				t.Errorf("\n%s\nwant the cache to be repaired: %d bytes, error %v", tc.reason, len(got), err)
			}
		})
	}
}

// TestCacheUnwritable checks that pulling works without a cache.
func TestCacheUnwritable(t *testing.T) {
	s, dir := ocitest.NewRegistry(t), t.TempDir()
	digest := s.Push(t, repo, []byte("x"))
	p := newClient(t, WithCacheDir(dir))
	// A file in place of a directory also fails for root.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, digest); err != nil {
		t.Errorf("Blob(...): %v", err)
	}
	if _, err := New(WithCacheDir(filepath.Join(dir, "x"))); err == nil {
		t.Error("New(...): want an error for a directory that cannot be made")
	}
}

// TestCacheShared checks that several pullers can share a directory.
func TestCacheShared(t *testing.T) {
	s, dir := ocitest.NewRegistry(t), t.TempDir()
	// The cache is too small for all blobs, so that one puller evicts files that another one reads.
	const each, size = 1000, 3500
	blobs := map[string][]byte{}
	for i := range 8 {
		data := bytes.Repeat([]byte{byte(i)}, each)
		blobs[s.Push(t, repo, data)] = data
	}
	var wg sync.WaitGroup
	for range 2 {
		p := newClient(t, WithCacheDir(dir), WithCacheSize(size))
		for digest, data := range blobs {
			wg.Go(func() {
				for range 10 {
					got, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, digest)
					if err != nil || !cmp.Equal(data, got) {
						t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
					}
				}
			})
		}
	}
	wg.Wait()
	if _, temporary := cacheFiles(t, dir); len(temporary) != 0 {
		t.Errorf("temporary files were left behind: %v", temporary)
	}
}

// flip returns data with one bit changed.
func flip(data []byte, at int) []byte {
	c := bytes.Clone(data)
	c[at] ^= 1
	return c
}
