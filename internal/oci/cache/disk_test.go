// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
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
				s.put("scope", oci.DigestOf(data[i]), data[i])
				age(t, s, oci.DigestOf(data[i]), time.Duration(3-i)*time.Minute)
			}
			if _, ok := s.get("scope", oci.DigestOf(data[0])); !ok {
				t.Fatal("get(...): want the first one while there is room")
			}
			if _, ok := s.get("other", oci.DigestOf(data[0])); ok {
				t.Error("get(...): want nothing from another scope")
			}
			s.put("scope", oci.DigestOf(data[3]), data[3])
			var kept []int
			for i := range data {
				if _, ok := s.get("scope", oci.DigestOf(data[i])); ok {
					kept = append(kept, i)
				}
			}
			// The disk also frees a tenth of its size.
			want := map[string][]int{"Disk": {0, 3}, "Memory": {0, 2, 3}}[name]
			if diff := cmp.Diff(want, kept); diff != "" {
				t.Errorf("after eviction of what was not used for longest: -want, +got:\n%s", diff)
			}
			large := make([]byte, 301)
			s.put("scope", oci.DigestOf(large), large)
			if _, ok := s.get("scope", oci.DigestOf(large)); ok {
				t.Error("get(...): want nothing that is larger than the store")
			}
			if _, ok := s.get("scope", oci.DigestOf(data[3])); !ok {
				t.Error("get(...): want the rest to be kept when something is too large")
			}
		})
	}
}

// age makes a file on disk look as if it was last used the given time ago.
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

// TestDiskStart checks that a new process counts the existing files, evicts files if necessary, and removes the leftovers of a
// crash.
func TestDiskStart(t *testing.T) {
	dir := t.TempDir()
	d, err := newDisk(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		data := fmt.Appendf(nil, "%0100d", i)
		d.put("scope", oci.DigestOf(data), data)
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
