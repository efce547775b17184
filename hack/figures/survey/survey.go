// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Survey holds the measurements of a repository.
type Survey struct {
	// Packages are the directories with Go files, sorted by path.
	Packages []*Package

	types map[string]*Type
}

// A Package is a directory with Go files.
type Package struct {
	// Path is the path of the directory below the root, or "." for the root.
	Path string
	// Files are the files by name, without tests and generated files.
	Files map[string]*File
	// TestLines is the number of lines in test files.
	TestLines int

	set *token.FileSet
}

// Lines returns the number of lines of all files, without tests and generated files.
func (p *Package) Lines() int {
	n := 0
	for _, f := range p.Files {
		n += f.Lines
	}
	return n
}

// A File holds the measurements of a Go file.
type File struct {
	Lines int
	// Functions contains the number of lines of each function body, without the braces.
	Functions []int

	syntax *ast.File
}

// A Type is a named type of the repository.
type Type struct {
	// methods is the number of methods by file.
	methods map[string]int
	// embeds are the keys of the types whose methods it inherits.
	embeds []string
}

// Read measures the packages of a module. It skips testdata, hidden directories, and other modules below the root.
func Read(root fs.FS, module string) (*Survey, error) {
	out := &Survey{types: map[string]*Type{}}
	packages := map[string]*Package{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skip(root, name)
		case path.Ext(name) != ".go" || !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if packages[dir] == nil {
			packages[dir] = &Package{Path: dir, Files: map[string]*File{}, set: token.NewFileSet()}
		}
		return out.read(packages[dir], name, data, module)
	})
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		out.Packages = append(out.Packages, packages[dir])
	}
	return out, errors.Wrap(err, "cannot measure the code")
}

// skip returns fs.SkipDir for a directory that is not part of the module.
func skip(root fs.FS, name string) error {
	base := path.Base(name)
	if name == "." {
		return nil
	}
	if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	return nil
}

// read adds a file to its package.
func (s *Survey) read(p *Package, name string, data []byte, module string) error {
	lines := bytes.Count(data, []byte("\n"))
	if strings.HasSuffix(name, "_test.go") {
		p.TestLines += lines
		return nil
	}
	syntax, err := parser.ParseFile(p.set, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(syntax) {
		return err
	}
	f := &File{Lines: lines, syntax: syntax}
	p.Files[path.Base(name)] = f
	r := resolver{dir: p.Path, imports: importsOf(syntax, module)}
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				f.Functions = append(f.Functions, p.set.Position(d.Body.Rbrace).Line-p.set.Position(d.Body.Lbrace).Line-1)
			}
			if d.Recv != nil {
				key, _ := r.key(d.Recv.List[0].Type)
				s.typeOf(key).methods[name]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					key, _ := r.key(t.Name)
					own := s.typeOf(key)
					own.embeds = append(own.embeds, r.embedded(t)...)
				}
			}
		}
	}
	return nil
}

func (s *Survey) typeOf(key string) *Type {
	if s.types[key] == nil {
		s.types[key] = &Type{methods: map[string]int{}}
	}
	return s.types[key]
}

// Types returns the sorted keys of all types. A key is the path of the package, a dot, and the name of the type.
func (s *Survey) Types() []string { return slices.Sorted(maps.Keys(s.types)) }

// MethodsOf returns the number of methods of a type in each file, including those of the repository's types that it
// embeds.
func (s *Survey) MethodsOf(key string) map[string]int {
	out, seen := map[string]int{}, map[string]bool{}
	for todo := []string{key}; len(todo) > 0; todo = todo[1:] {
		t := s.types[todo[0]]
		if t == nil || seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		for file, n := range t.methods {
			out[file] += n
		}
		todo = append(todo, t.embeds...)
	}
	return out
}

// A resolver resolves references of a file to types of the repository.
type resolver struct {
	dir string
	// imports are the directories of the packages that the file imports, by the names that the file uses for them.
	imports map[string]string
}

// importsOf returns the directories of the packages of a module that a file imports.
func importsOf(f *ast.File, module string) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		dir, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/")
		if !ok {
			continue
		}
		name := path.Base(dir)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = dir
	}
	return out
}

// key returns the key of the type that an expression refers to, possibly as a pointer or with type arguments. It returns
// false if that type is not a type of the repository.
func (r resolver) key(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return r.dir + "." + e.Name, true
	case *ast.StarExpr:
		return r.key(e.X)
	case *ast.ParenExpr:
		return r.key(e.X)
	case *ast.IndexExpr:
		return r.key(e.X)
	case *ast.IndexListExpr:
		return r.key(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && r.imports[x.Name] != "" {
			return r.imports[x.Name] + "." + e.Sel.Name, true
		}
	}
	return "", false
}

// embedded returns the keys of the types whose methods a type has: the types that a struct embeds, and the target of an
// alias.
func (r resolver) embedded(t *ast.TypeSpec) []string {
	var out []string
	add := func(e ast.Expr) {
		if key, ok := r.key(e); ok {
			out = append(out, key)
		}
	}
	if t.Assign.IsValid() {
		add(t.Type)
	}
	if s, ok := t.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			if len(f.Names) == 0 {
				add(f.Type)
			}
		}
	}
	return out
}
