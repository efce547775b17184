// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A listed is a package as "go list -json" describes it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// TestSystems checks the types of kymactl on the systems for which users build it, but on which no test runs. It compiles nothing, and
// skips the functions of other modules, because that would take minutes.
func TestSystems(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./cmd/kymactl")
			cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join("..", ".."), append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "CGO_ENABLED=0"), os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			checked := map[string]*types.Package{"unsafe": types.Unsafe}
			// Each package comes after the packages that it imports.
			for d := json.NewDecoder(strings.NewReader(string(out))); ; {
				p := listed{}
				err := d.Decode(&p)
				if errors.Is(err, io.EOF) {
					break
				}
				if err == nil && p.ImportPath != "unsafe" {
					err = p.check(checked)
				}
				if err != nil {
					t.Fatalf("%s on %s: %v", p.ImportPath, system, err)
				}
			}
		})
	}
}

// check checks the types of a package, and adds it to the checked ones.
func (p *listed) check(checked map[string]*types.Package) error {
	set := token.NewFileSet()
	files := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	own := p.Module != nil && p.Module.Main
	c := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if to, ok := p.ImportMap[path]; ok {
				path = to
			}
			if checked[path] == nil {
				return nil, errors.New("not checked yet: " + path)
			}
			return checked[path], nil
		}),
		IgnoreFuncBodies: !own, Sizes: types.SizesFor("gc", "arm64"),
	}
	pkg, err := c.Check(p.ImportPath, set, files, nil)
	checked[p.ImportPath] = pkg
	return err
}

type importer func(path string) (*types.Package, error)

// Import calls the function.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
