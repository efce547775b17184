// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// TestSpecsRun compares the packages with specs of the integration suite with those that its test binary imports.
func TestSpecsRun(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(root, "test", "integration")
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(suite, "suite_test.go"), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imported []string
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, dir, ok := strings.Cut(path, "/test/integration/"); ok {
			imported = append(imported, dir)
		}
	}
	var existing []string
	for _, pattern := range []string{"*/doc.go", "*/*/doc.go"} {
		files, err := filepath.Glob(filepath.Join(suite, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			dir, err := filepath.Rel(suite, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			existing = append(existing, filepath.ToSlash(dir))
		}
	}
	slices.Sort(imported)
	slices.Sort(existing)
	if diff := cmp.Diff(existing, imported); diff != "" || len(existing) < 10 {
		t.Errorf("test/integration/suite_test.go must import every package with specs, or they do not run: -directories, +imports:\n%s", diff)
	}
}
