// SPDX-License-Identifier: Apache-2.0

package xpkg

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestExamplesAreObjects checks that the package contains examples, and that all of them are objects.
func TestExamplesAreObjects(t *testing.T) {
	to := filepath.Join(t.TempDir(), "examples")
	if err := stageExamples(filepath.Join("..", "..", "..", "examples"), to); err != nil {
		t.Fatal(err)
	}
	found := 0
	err := filepath.WalkDir(to, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		found++
		data, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(data, []byte("kind: ")) {
			t.Errorf("%s is not an object: a package cannot have it", path)
		}
		return err
	})
	if err != nil || found < 10 {
		t.Errorf("want the examples, got %d and %v", found, err)
	}
}
