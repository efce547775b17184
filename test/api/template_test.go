// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestWrittenTemplates sends the output of kymactl module template to the server, as a dry run.
func TestWrittenTemplates(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "internal", "cli", "module", "testdata", "template*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("want templates, got %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data = bytes.ReplaceAll(data, []byte("REGISTRY"), []byte("registry.example.org:5000"))
			if _, err := dryRun(t.Context(), object(t, string(data))); err != nil {
				t.Error(err)
			}
		})
	}
}
