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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var update = flag.Bool("update", false, "rewrite docs/library-api.txt")

// TestPublicAPI fails if the API of a public package changes unnoticed. The file contains what docs/library.md promises.
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
			all = append(all, exported(t, root, filepath.Join(p.Dir, name))...)
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

// A declaration is the source of an exported declaration, without comments and bodies.
type declaration struct {
	// of is the declared type, or the type of a method; it is empty for other declarations.
	of, text string
	// alias is the type of another package that a public name stands for, or the zero value.
	alias struct{ path, name string }
}

// exported returns the declarations of a file. An alias of a type below internal/ is followed by that type and its methods, which
// users see under the public name.
func exported(t *testing.T, root, file string) []string {
	t.Helper()
	var out []string
	for _, d := range declarations(t, file) {
		out = append(out, d.text)
		if strings.Contains(d.alias.path, "/internal/") {
			out = append(out, members(t, filepath.Join(root, strings.TrimPrefix(d.alias.path, module)), d.alias.name)...)
		}
	}
	return out
}

// members returns the declarations of a type and its methods in the package of a directory.
func members(t *testing.T, dir, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range declarations(t, file) {
			if d.of == name {
				out = append(out, d.text)
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("%s has no type %s", dir, name)
	}
	return out
}

// declarations returns the exported declarations of a file.
func declarations(t *testing.T, file string) []declaration {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.FileExports(parsed)
	var out []declaration
	add := func(node any, d declaration) {
		var b bytes.Buffer
		if err := format.Node(&b, set, node); err != nil {
			t.Fatal(err)
		}
		d.text = b.String()
		out = append(out, d)
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body = nil; d.Recv == nil {
				add(d, declaration{})
			} else if ast.IsExported(receiver(d)) {
				add(d, declaration{of: receiver(d)})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if _, ok := s.(*ast.ImportSpec); !ok {
					add(&ast.GenDecl{Tok: d.Tok, TokPos: s.Pos(), Specs: []ast.Spec{s}}, declared(parsed, s))
				}
			}
		}
	}
	return out
}

// declared returns the declaration of a specification, without its text.
func declared(file *ast.File, s ast.Spec) declaration {
	spec, ok := s.(*ast.TypeSpec)
	if !ok {
		return declaration{}
	}
	out := declaration{of: spec.Name.Name}
	of, ok := spec.Type.(*ast.SelectorExpr)
	if !ok || !spec.Assign.IsValid() {
		return out
	}
	id, _ := of.X.(*ast.Ident)
	for _, i := range file.Imports {
		if p := strings.Trim(i.Path.Value, `"`); id != nil && path.Base(p) == id.Name {
			out.alias.path, out.alias.name = p, of.Sel.Name
		}
	}
	return out
}

// receiver returns the name of the receiver type of a method.
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

// TestPublicImports checks that importing the library pulls in neither our custom resources nor the libraries of clouds that
// the provider logs in with.
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
