// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
)

// References counts references between files of one package. Multiple references from one file to another count as one.
type References struct {
	All int
	// Circular counts the references on a cycle: the other file refers back, directly or through more files.
	Circular int
}

// References returns the references between the files of a package: to declarations in the package scope, and to methods.
func (p *Package) References() References {
	graph := p.graph()
	var out References
	for from, tos := range graph {
		out.All += len(tos)
		for to := range tos {
			if reaches(graph, to, from) {
				out.Circular++
			}
		}
	}
	return out
}

// graph returns the files that each file refers to.
func (p *Package) graph() map[string]map[string]bool {
	files := make([]*ast.File, 0, len(p.Files))
	for _, f := range p.Files {
		files = append(files, f.syntax)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Other packages are not read, so errors about their declarations are ignored.
	config := types.Config{Importer: unread{}, Error: func(error) {}}
	own, _ := config.Check(p.Path, p.set, files, info)
	graph := map[string]map[string]bool{}
	for id, used := range info.Uses {
		if used.Pkg() != own || used.Parent() != own.Scope() && !isMethod(used) {
			continue
		}
		from, to := fileOf(p.set, id.Pos()), fileOf(p.set, used.Pos())
		if graph[from] == nil {
			graph[from] = map[string]bool{}
		}
		if from != to {
			graph[from][to] = true
		}
	}
	return graph
}

func isMethod(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

func fileOf(set *token.FileSet, pos token.Pos) string { return path.Base(set.Position(pos).Filename) }

// unread imports packages without reading them.
type unread struct{}

// Import returns an empty package.
func (unread) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// reaches reports whether there is a path from one file to another.
func reaches(graph map[string]map[string]bool, from, to string) bool {
	seen := map[string]bool{from: true}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			return true
		}
		for next := range graph[todo[0]] {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return false
}
