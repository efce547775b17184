// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// TestPlanted checks that files that other users put into the cache directory are not read.
func TestPlanted(t *testing.T) {
	data := []byte("content")
	cases := map[string]struct {
		reason string
		plant  func(path string) error
	}{
		"Link": {
			reason: "A symbolic link is not followed.",
			plant: func(path string) error {
				target := path + ".target"
				if err := os.WriteFile(target, data, 0o600); err != nil {
					return err
				}
				return os.Symlink(target, path)
			},
		},
		"Pipe": {reason: "Nothing waits for a pipe.", plant: func(path string) error { return syscall.Mkfifo(path, 0o600) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := newDisk(t.TempDir(), 100)
			if err != nil {
				t.Fatal(err)
			}
			path := d.path("scope", oci.DigestOf(data))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tc.plant(path); err != nil {
				t.Fatal(err)
			}
			if got, ok := d.get("scope", oci.DigestOf(data)); ok {
				t.Errorf("\n%s\nget(...): want nothing, got %q", tc.reason, got)
			}
		})
	}
}

// TestPlantedLarge checks that a file that exceeds the maximum size of the cache is not read.
func TestPlantedLarge(t *testing.T) {
	d, err := newDisk(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte{1}, 101)
	path := d.path("scope", oci.DigestOf(data))
	if err := publish(path, data); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.get("scope", oci.DigestOf(data)); ok {
		t.Error("get(...): want nothing")
	}
}

// TestOthersDirectory checks that the cache uses its own subdirectory if other users can write to the directory.
func TestOthersDirectory(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := newDisk(shared, 100)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(d.dir); err != nil || d.dir == shared || info.Mode().Perm() != 0o700 {
		t.Errorf("newDisk(...): want a directory of its own below %s, got %s, %v, %v", shared, d.dir, info, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(shared, link); err != nil {
		t.Fatal(err)
	}
	if d, err := newDisk(link, 100); err == nil {
		t.Errorf("newDisk(...): want an error for a symbolic link, got %s", d.dir)
	}
}
