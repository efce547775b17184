// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A line is a line of prose, or the words of a name, which is an identifier or a string without a space. Its number counts
// from 1.
type line struct {
	number int
	text   string
	isName bool
}

// textsOf returns the texts of a file, depending on its name, or on its first line if it is a script. It returns nothing for
// other types of files.
func textsOf(name string, data []byte) []line {
	switch ext := path.Ext(name); {
	case ext == ".go":
		return append(goTexts(data), goNames(data)...)
	case ext == ".md":
		return markdownTexts(data)
	case ext == ".yaml", ext == ".yml":
		return yamlTexts(data)
	case ext == ".sh", path.Base(name) == "Makefile", bytes.HasPrefix(data, []byte("#!")):
		return split(1, string(data))
	}
	return nil
}

// nameOf returns the words of the name of a file.
func nameOf(file string) line { return line{number: 1, text: wordsOf(path.Base(file)), isName: true} }

// goTexts returns the comments of a Go file, and the string literals that contain a space.
func goTexts(data []byte) []line {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(data))
	var s scanner.Scanner
	s.Init(file, data, func(token.Position, string) {}, scanner.ScanComments)
	var out []line
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.COMMENT || (tok == token.STRING && strings.Contains(literal, " ")) {
			out = append(out, split(file.Line(pos), literal)...)
		}
	}
}

// goNames returns the names that a Go file declares, and the string literals without a space, except struct tags and import
// paths. A parameter yield is the convention for iterators.
func goNames(data []byte) []line {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", data, parser.SkipObjectResolution)
	if err != nil {
		return nil // The compiler reports it.
	}
	var out []line
	add := func(pos token.Pos, name string) {
		out = append(out, line{number: files.Position(pos).Line, text: wordsOf(name), isName: true})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		for _, id := range declaredBy(n) {
			add(id.Pos(), id.Name)
		}
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !strings.Contains(text, " ") {
				add(n.Pos(), text)
			}
		}
		return true
	})
	return out
}

// wordBoundary matches the end of a word in a name, and the beginning of the next one.
var wordBoundary = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])|_`)

// wordsOf separates the words of a name by spaces: "readURLOf_x" becomes "read URL Of x".
func wordsOf(name string) string { return wordBoundary.ReplaceAllString(name, "$1$3 $2$4") }

var codeSpan = regexp.MustCompile("`[^`]*`")

// tableOfWords is the beginning of the table in CONTRIBUTING.md that lists the rules.
const tableOfWords = "| Do not write |"

// markdownTexts returns the lines of a Markdown file without its code, and without the table that lists the rules.
func markdownTexts(data []byte) []line {
	var out []line
	fenced, listed := false, false
	for _, l := range split(1, string(data)) {
		listed = strings.HasPrefix(l.text, tableOfWords) || listed && strings.HasPrefix(l.text, "|")
		if listed {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(l.text), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			l.text = codeSpan.ReplaceAllString(l.text, "``")
			out = append(out, l)
		}
	}
	return out
}

// yamlTexts returns the comments of a YAML file, and the lines with more than three words, which are likely prose.
func yamlTexts(data []byte) []line {
	var out []line
	for _, l := range split(1, string(data)) {
		if strings.Contains(l.text, "#") || len(strings.Fields(l.text)) > 3 {
			out = append(out, l)
		}
	}
	return out
}

// split splits a text that begins at a line into its lines.
func split(first int, text string) []line {
	var out []line
	for i, t := range strings.Split(text, "\n") {
		out = append(out, line{number: first + i, text: t})
	}
	return out
}

// declaredBy returns the identifiers that a node of a syntax tree declares.
func declaredBy(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return slices.DeleteFunc(slices.Clone(n.Names), func(id *ast.Ident) bool { return id.Name == "yield" })
	case *ast.AssignStmt:
		return defined(n.Tok, n.Lhs...)
	case *ast.RangeStmt:
		return defined(n.Tok, n.Key, n.Value)
	}
	return nil
}

// defined returns the identifiers that an assignment with an operator declares.
func defined(operator token.Token, to ...ast.Expr) []*ast.Ident {
	var out []*ast.Ident
	for _, e := range to {
		if id, ok := e.(*ast.Ident); ok && operator == token.DEFINE {
			out = append(out, id)
		}
	}
	return out
}
