// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestFuzzTargets checks that each fuzz target bounds the memory and the time for one input.
func TestFuzzTargets(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		for name, parsed := range parse(t, p, slices.Concat(p.TestGoFiles, p.XTestGoFiles)) {
			for _, d := range parsed.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(f.Name.Name, "Fuzz") || f.Recv != nil {
					continue
				}
				found++
				if !bounds(f) {
					t.Errorf("%s/%s: %s does not begin with defer fuzztest.Within(...)()", p.path(), name, f.Name.Name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("want all fuzz targets, found %d", found)
	}
}

// bounds reports whether the function that a target passes to Fuzz begins with a deferred fuzztest.Within.
func bounds(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !selects(call.Fun, "f", "Fuzz") || len(call.Args) != 1 {
			return true
		}
		body, ok := call.Args[0].(*ast.FuncLit)
		if !ok || len(body.Body.List) == 0 {
			return false
		}
		d, ok := body.Body.List[0].(*ast.DeferStmt)
		if !ok {
			return false
		}
		within, ok := d.Call.Fun.(*ast.CallExpr)
		found = ok && selects(within.Fun, "fuzztest", "Within")
		return false
	})
	return found
}

// selects reports whether an expression is x.name.
func selects(e ast.Expr, x, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	i, ok := s.X.(*ast.Ident)
	return ok && i.Name == x
}
