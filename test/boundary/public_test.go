// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var update = flag.Bool("update", false, "write docs/library-api.txt anew")

// TestPublicAPI fails when the API of a public package changes unnoticed. What is in the file is what docs/library.md
// promises.
func TestPublicAPI(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, p := range packages(t) {
		if !below(p.path(), "pkg") || strings.Contains(p.path(), "/internal/") {
			continue
		}
		got.WriteString("# " + p.path() + "\n")
		var all []string
		for _, name := range p.GoFiles {
			all = append(all, exported(t, filepath.Join(p.Dir, name))...)
		}
		slices.Sort(all)
		got.WriteString("\n" + strings.Join(all, "\n") + "\n")
	}
	file := filepath.Join(root, "docs", "library-api.txt")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the API of the library changed. If no promise of docs/library.md is broken, run make generate.\n-docs/library-api.txt, +code:\n%s", diff)
	}
}

// exported declarations of a file, each as it is written, without comments and bodies.
func exported(t *testing.T, file string) []string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.FileExports(parsed)
	var out []string
	add := func(node any) {
		var b bytes.Buffer
		if err := format.Node(&b, set, node); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.String())
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body = nil; d.Recv == nil || ast.IsExported(receiver(d)) {
				add(d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if _, ok := s.(*ast.ImportSpec); !ok {
					add(&ast.GenDecl{Tok: d.Tok, TokPos: s.Pos(), Specs: []ast.Spec{s}})
				}
			}
		}
	}
	return out
}

// receiver is the name of the type that a method is of.
func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	id, _ := of.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// TestPublicImports shows that whoever imports the library does not get our custom resources, nor the libraries of
// clouds that the provider logs in with.
func TestPublicImports(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./pkg/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, unwanted := range []string{
			module + "/apis", module + "/internal/controller", "github.com/crossplane-contrib/provider-kubernetes",
			"github.com/aws", "github.com/Azure", "cloud.google.com",
		} {
			if below(dep, unwanted) {
				t.Errorf("the library needs %s", dep)
			}
		}
	}
}
