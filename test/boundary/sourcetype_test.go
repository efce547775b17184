// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sourceTypes returns the uses of source types in a file. The type of a LayerSource does not count.
func sourceTypes(parsed *ast.File) []string {
	name := ""
	for _, i := range parsed.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err == nil && path == module+"/apis/v1alpha1" {
			name = filepath.Base(path)
			if i.Name != nil {
				name = i.Name.Name
			}
		}
	}
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && name != "" && x.Name == name && strings.HasPrefix(s.Sel.Name, "SourceType") {
				out = append(out, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return out
}

// TestSourceTypes checks that a new source type needs only one file: no package but internal/source knows the types.
func TestSourceTypes(t *testing.T) {
	for _, p := range packages(t) {
		if below(p.path(), "internal/source") || !belowAny(p.path(), []string{"internal", "pkg", "cmd"}) {
			continue
		}
		for name, parsed := range sources(t, p) {
			for _, use := range sourceTypes(parsed) {
				t.Errorf("%s/%s: %s: only internal/source knows the types of sources; use source.Source or a constructor", p.path(), name, use)
			}
		}
	}
}

// TestSourceTypesFound checks that a use is found.
func TestSourceTypesFound(t *testing.T) {
	const path = `"` + module + `/apis/v1alpha1"`
	cases := map[string]struct {
		reason string
		source string
		want   string
	}{
		"Fine":   {reason: "A source may be passed on.", source: `import ` + path + `; var _ v1alpha1.Source`},
		"Value":  {reason: "A value of the API branches.", source: `import ` + path + `; var _ = v1alpha1.SourceTypeRaw`, want: "v1alpha1.SourceTypeRaw"},
		"Alias":  {reason: "The package may have any name.", source: `import x ` + path + `; var _ = x.SourceTypeRaw`, want: "x.SourceTypeRaw"},
		"Cast":   {reason: "A conversion names a type too.", source: `import ` + path + `; var _ = v1alpha1.SourceType("raw")`, want: "v1alpha1.SourceType"},
		"Layer":  {reason: "A layer has a type of its own.", source: `import ` + path + `; var _ = v1alpha1.LayerSourceTypeOCIRef`},
		"Others": {reason: "Another package may have such a name.", source: `import "example.org/v1alpha1"; var _ = v1alpha1.SourceTypeRaw`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(sourceTypes(parsed), " "); got != tc.want {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
