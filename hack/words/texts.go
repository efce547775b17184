// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// A line is a line of prose. Its number counts from 1.
type line struct {
	number int
	text   string
}

// textsOf returns the prose of a file, depending on the extension of its name. It returns nothing for other types of
// files.
func textsOf(name string, data []byte) []line {
	switch path.Ext(name) {
	case ".go":
		return goTexts(data)
	case ".md":
		return markdownTexts(data)
	case ".yaml", ".yml":
		return yamlTexts(data)
	}
	return nil
}

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

var codeSpan = regexp.MustCompile("`[^`]*`")

// markdownTexts returns the lines of a Markdown file without its code.
func markdownTexts(data []byte) []line {
	var out []line
	fenced := false
	for _, l := range split(1, string(data)) {
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
