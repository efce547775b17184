// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decided returns the functions that treat every 404 as a missing object, by package. Only internal/notfound may use them,
// because it knows the difference.
func decided() map[string][]string {
	return map[string][]string{
		"k8s.io/apimachinery/pkg/api/errors":                       {"IsNotFound"},
		"sigs.k8s.io/controller-runtime/pkg/client":                {"IgnoreNotFound"},
		"github.com/crossplane/crossplane-runtime/v2/pkg/resource": {"IgnoreNotFound"},
	}
}

// believers returns the uses of such functions in a file.
func believers(parsed *ast.File) []string {
	names := map[string][]string{}
	for _, i := range parsed.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil || decided()[path] == nil {
			continue
		}
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = decided()[path]
	}
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && slices.Contains(names[x.Name], s.Sel.Name) {
			out = append(out, x.Name+"."+s.Sel.Name)
		}
		return true
	})
	return out
}

// TestNotFound checks that only one package decides what a 404 means.
func TestNotFound(t *testing.T) {
	for _, p := range packages(t) {
		if p.path() == "internal/notfound" || !belowAny(p.path(), []string{"internal", "pkg", "cmd"}) {
			continue
		}
		for name, parsed := range sources(t, p) {
			for _, b := range believers(parsed) {
				t.Errorf("%s/%s: %s takes the page of a proxy for the word of an API server; use internal/notfound", p.path(), name, b)
			}
		}
	}
}

// TestBelievers checks that a use is found.
func TestBelievers(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   string
	}{
		"Fine":  {reason: "Other functions of the packages are allowed.", source: `import kerrors "k8s.io/apimachinery/pkg/api/errors"; var _ = kerrors.IsConflict`},
		"Alias": {reason: "The package may have any name.", source: `import x "k8s.io/apimachinery/pkg/api/errors"; var _ = x.IsNotFound`, want: "x.IsNotFound"},
		"Plain": {reason: "The package client has such a function of its own.", source: `import "sigs.k8s.io/controller-runtime/pkg/client"; func f() { g(client.IgnoreNotFound(nil)) }`, want: "client.IgnoreNotFound"},
		"Other": {reason: "Another package may have such a function.", source: `import "example.org/errors"; var _ = errors.IsNotFound`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(believers(parsed), " "); got != tc.want {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
