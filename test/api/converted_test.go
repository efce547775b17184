// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	moduleconvert "github.com/crossplane-contrib/provider-kyma/internal/module/convert"
)

// TestConverted checks that the API server accepts converted objects of the original.
func TestConverted(t *testing.T) {
	for _, pattern := range []string{"convert/testdata/*.yaml", "testdata/moduletemplates/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "internal", "module", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				in, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				converted, _, err := moduleconvert.Object(in, moduleconvert.Options{Channel: "regular", Namespace: "default"})
				if err != nil {
					t.Fatal(err)
				}
				data, err := json.Marshal(converted)
				if err != nil {
					t.Fatal(err)
				}
				o := &unstructured.Unstructured{}
				if err := json.Unmarshal(data, &o.Object); err != nil {
					t.Fatal(err)
				}
				delete(o.Object, "status")
				if _, err := dryRun(t.Context(), o); err != nil {
					t.Errorf("The server refuses: %v", err)
				}
			})
		}
	}
}
