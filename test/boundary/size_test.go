// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Limits of a package, tests and generated files not counted.
const (
	maxPackageFiles = 20
	maxPackageLines = 2500
	// maxMethodFiles is in how many files the methods of one type may be.
	maxMethodFiles = 4
)

// A size is how large a package is.
type size struct{ Files, Lines int }

// oversized are the packages that are still above the limits, with the size that they may have. Split a package rather than
// raise its numbers; lower them when it shrinks.
func oversized() map[string]size {
	return map[string]size{}
}

// scattered are the types that still have methods in more files than the limit, with the number that they may have.
func scattered() map[string]int {
	return map[string]int{}
}

// A measured package has its size, and for each type the files with its methods.
type measured struct {
	size

	methods map[string]map[string]bool
}

func measure(t *testing.T, p pack) measured {
	t.Helper()
	out := measured{methods: map[string]map[string]bool{}}
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
		data, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(f) {
			continue
		}
		out.Files++
		out.Lines += bytes.Count(data, []byte("\n"))
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				r := receiver(fn)
				if out.methods[r] == nil {
					out.methods[r] = map[string]bool{}
				}
				out.methods[r][name] = true
			}
		}
	}
	return out
}

// tooLarge says what is wrong with the size of a package. Allowed is its entry of oversized, or the zero value.
func tooLarge(s, allowed size) string {
	files, lines := max(maxPackageFiles, allowed.Files), max(maxPackageLines, allowed.Lines)
	switch {
	case s.Files > files || s.Lines > lines:
		return fmt.Sprintf("it has %d files and %d lines, and may have %d and %d: split it", s.Files, s.Lines, files, lines)
	case allowed != size{} && s.Files <= maxPackageFiles && s.Lines <= maxPackageLines:
		return "it is within the limits: take it out of oversized"
	}
	return ""
}

func TestSizes(t *testing.T) {
	known := oversized()
	types := scattered()
	for _, p := range packages(t) {
		m := measure(t, p)
		if why := tooLarge(m.size, known[p.path()]); why != "" {
			t.Errorf("%s: %s", p.path(), why)
		}
		delete(known, p.path())
		for name, files := range m.methods {
			key := p.path() + "." + name
			allowed := max(maxMethodFiles, types[key])
			if len(files) > allowed {
				t.Errorf("%s has methods in %d files, and may have them in %d: %v", key, len(files), allowed, slices.Sorted(maps.Keys(files)))
			}
			if types[key] != 0 && len(files) <= maxMethodFiles {
				t.Errorf("%s is within the limit: take it out of scattered", key)
			}
			delete(types, key)
		}
	}
	if len(known) > 0 || len(types) > 0 {
		t.Errorf("oversized and scattered name what does not exist: %v, %v", known, types)
	}
}

// TestTooLarge shows that a package can be found too large.
func TestTooLarge(t *testing.T) {
	type args struct{ is, allowed size }
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Small": {reason: "A package within the limits.", args: args{is: size{Files: 20, Lines: 2500}}},
		"Files": {
			reason: "Too many files.", args: args{is: size{Files: 21, Lines: 10}},
			want: "it has 21 files and 10 lines, and may have 20 and 2500: split it",
		},
		"Lines": {
			reason: "Too many lines.", args: args{is: size{Files: 1, Lines: 2501}},
			want: "it has 1 files and 2501 lines, and may have 20 and 2500: split it",
		},
		"Known": {reason: "A package that is known to be too large.", args: args{is: size{Files: 22, Lines: 3000}, allowed: size{Files: 22, Lines: 3000}}},
		"Grown": {
			reason: "One that is known must not grow.", args: args{is: size{Files: 22, Lines: 3001}, allowed: size{Files: 22, Lines: 3000}},
			want: "it has 22 files and 3001 lines, and may have 22 and 3000: split it",
		},
		"Shrunk": {
			reason: "One that is small again must not grow back.", args: args{is: size{Files: 20, Lines: 2500}, allowed: size{Files: 22, Lines: 3000}},
			want: "it is within the limits: take it out of oversized",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tooLarge(tc.args.is, tc.args.allowed)); diff != "" {
				t.Errorf("\n%s\ntooLarge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
