// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"testing"
)

// sender is the only package of the engine that sends requests.
const sender = "pkg/manifest/internal/ssa"

// sends reports whether a file uses the REST client of a cluster.
func sends(parsed *ast.File) bool {
	found := false
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "REST" {
			found = true
		}
		return !found
	})
	return found
}

// TestSender holds that one package of the engine sends its requests.
func TestSender(t *testing.T) {
	used := false
	for _, p := range packages(t) {
		if !below(p.path(), "pkg/manifest") {
			continue
		}
		for name, parsed := range sources(t, p) {
			switch {
			case p.path() == sender:
				used = used || sends(parsed)
			case sends(parsed):
				t.Errorf("%s/%s sends a request itself; use %s", p.path(), name, sender)
			}
		}
	}
	if !used {
		t.Errorf("%s sends nothing: the test finds no sender at all", sender)
	}
}
