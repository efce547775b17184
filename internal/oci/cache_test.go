// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// cacheFiles returns the published and the temporary files in dir.
func cacheFiles(t *testing.T, dir string) (published, temporary []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if strings.HasPrefix(e.Name(), tempPrefix) {
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

// TestCacheDamage holds that a damaged cache is repaired and never returned.
func TestCacheDamage(t *testing.T) {
	data := chartArchive(t, "damage")
	cases := map[string]struct {
		reason string
		damage func(t *testing.T, path string) error
	}{
		"FlippedBit": {reason: "One bit is enough.", damage: func(_ *testing.T, path string) error { return os.WriteFile(path, flip(data, 7), 0o600) }},
		"Truncated":  {reason: "A crash may leave a part.", damage: func(_ *testing.T, path string) error { return os.Truncate(path, 5) }},
		"Empty":      {reason: "Or nothing.", damage: func(_ *testing.T, path string) error { return os.Truncate(path, 0) }},
		"Removed":    {reason: "Somebody may clean up.", damage: func(_ *testing.T, path string) error { return os.RemoveAll(filepath.Dir(path)) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, dir := newRegistry(t), t.TempDir()
			digest := s.push(t, repo, data)
			p := newPuller(t, WithCacheDir(dir))
			pull := func() {
				t.Helper()
				got, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, digest)
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
			if n := s.count("GET", "/blobs/"); n != 2 {
				t.Errorf("\n%s\nwant the blob to be pulled once more, got %d pulls", tc.reason, n)
			}
			if got, err := os.ReadFile(published[0]); err != nil || !cmp.Equal(data, got) {
				t.Errorf("\n%s\nwant the cache to be repaired: %d bytes, error %v", tc.reason, len(got), err)
			}
		})
	}
}

// TestCacheUnwritable holds that pulling works without a cache.
func TestCacheUnwritable(t *testing.T) {
	s, dir := newRegistry(t), t.TempDir()
	digest := s.push(t, repo, []byte("x"))
	p := newPuller(t, WithCacheDir(dir))
	// A file where a folder is needed fails for root as well.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, digest); err != nil {
		t.Errorf("Blob(...): %v", err)
	}
	if _, err := NewPuller(WithCacheDir(filepath.Join(dir, "x"))); err == nil {
		t.Error("NewPuller(...): want an error for a folder that cannot be made")
	}
}

// TestCacheShared holds that pullers of one folder do not harm each other.
func TestCacheShared(t *testing.T) {
	s, dir := newRegistry(t), t.TempDir()
	// Too small for all, so that one removes what another one reads.
	const each, size = 1000, 3500
	blobs := map[string][]byte{}
	for i := range 8 {
		data := bytes.Repeat([]byte{byte(i)}, each)
		blobs[s.push(t, repo, data)] = data
	}
	var wg sync.WaitGroup
	for range 2 {
		p := newPuller(t, WithCacheDir(dir), WithCacheSize(size))
		for digest, data := range blobs {
			wg.Go(func() {
				for range 10 {
					got, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, digest)
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

func TestStoreEviction(t *testing.T) {
	newDiskStore := func(t *testing.T, size int64) store {
		t.Helper()
		d, err := newDisk(t.TempDir(), size)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	newMemoryStore := func(_ *testing.T, size int64) store { return newMemory(size) }
	for name, newStore := range map[string]func(*testing.T, int64) store{"Disk": newDiskStore, "Memory": newMemoryStore} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 300)
			data := make([][]byte, 4)
			for i := range data {
				data[i] = bytes.Repeat([]byte{byte(i)}, 100)
			}
			for i := range 3 {
				s.put("scope", digestOf(data[i]), data[i])
				age(t, s, digestOf(data[i]), time.Duration(3-i)*time.Minute)
			}
			if _, ok := s.get("scope", digestOf(data[0])); !ok {
				t.Fatal("get(...): want the first one while there is room")
			}
			if _, ok := s.get("other", digestOf(data[0])); ok {
				t.Error("get(...): want nothing from another scope")
			}
			s.put("scope", digestOf(data[3]), data[3])
			var kept []int
			for i := range data {
				if _, ok := s.get("scope", digestOf(data[i])); ok {
					kept = append(kept, i)
				}
			}
			// The disk also makes a tenth of its size free.
			want := map[string][]int{"Disk": {0, 3}, "Memory": {0, 2, 3}}[name]
			if diff := cmp.Diff(want, kept); diff != "" {
				t.Errorf("after eviction of what was not used for longest: -want, +got:\n%s", diff)
			}
			large := make([]byte, 301)
			s.put("scope", digestOf(large), large)
			if _, ok := s.get("scope", digestOf(large)); ok {
				t.Error("get(...): want nothing that is larger than the store")
			}
			if _, ok := s.get("scope", digestOf(data[3])); !ok {
				t.Error("get(...): want the rest to be kept when something is too large")
			}
		})
	}
}

// age makes a file on disk look as if it was used that long ago.
func age(t *testing.T, s store, digest string, d time.Duration) {
	t.Helper()
	k, ok := s.(*disk)
	if !ok {
		return
	}
	then := time.Now().Add(-d)
	if err := os.Chtimes(k.path("scope", digest), then, then); err != nil {
		t.Fatal(err)
	}
}

// TestDiskStart holds that a new process counts what is there, makes room, and
// removes what a crash left behind.
func TestDiskStart(t *testing.T) {
	dir := t.TempDir()
	d, err := newDisk(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		data := fmt.Appendf(nil, "%0100d", i)
		d.put("scope", digestOf(data), data)
	}
	temp := map[string]time.Duration{"old": 2 * staleTemp, "new": 0}
	for name, old := range temp {
		path := filepath.Join(dir, "scope", "sha256", tempPrefix+name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-old)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if d, err = newDisk(dir, 250); err != nil {
		t.Fatal(err)
	}
	published, temporary := cacheFiles(t, dir)
	if len(published) != 2 || d.used != 200 {
		t.Errorf("newDisk(...): want 2 files of 200 bytes, got %d of %d", len(published), d.used)
	}
	if len(temporary) != 1 || !strings.HasSuffix(temporary[0], tempPrefix+"new") {
		t.Errorf("newDisk(...): want only the new temporary file to stay, got %v", temporary)
	}
}
