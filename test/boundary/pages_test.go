// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var (
	fence     = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	span      = regexp.MustCompile("`([^`\n]+)`")
	plainPath = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
	goFile    = regexp.MustCompile(`\.go$`)
	directory = regexp.MustCompile(`[\w.-]+(/[\w.-]+)*/(?:[\s:;,.)]|$)`)
	qualified = regexp.MustCompile(`^[a-z]+\.[A-Z]\w*$`)
	mixedCase = regexp.MustCompile(`^[A-Za-z]+[a-z][A-Z]\w*$`)
	selector  = regexp.MustCompile(`\b(manifest|source|cluster|connect)\.([A-Z]\w*)`)
	member    = regexp.MustCompile("`(Bundle|Install|Rule|Engine|Flags|Observation|Plan)\\.([A-Z]\\w*)[`(]")
	levelLine = regexp.MustCompile(`[├└]─ ([a-z ]+)`)
	// theirs matches the first column of the table that compares with the library of the original.
	theirs = regexp.MustCompile("(?m)^\\| [^|]*`(ConfigFlags|Flags)\\b[^|]*\\|")
	option = regexp.MustCompile("[`(| ]((?:With|As|Force)[A-Z]\\w*|Wait)\\(")
)

// roots returns the directories with which a path of this repository begins.
func roots() []string {
	return []string{"apis", "charts", "cluster", "cmd", "docs", "examples", "hack", "internal", "package", "pkg", "test"}
}

// bases returns the directories in which CONTRIBUTING.md resolves a path that does not begin at the root.
func bases() []string {
	return []string{"", "pkg/manifest", "pkg/manifest/internal", "internal/cli", "test"}
}

// A tree holds the names that pages can use: files and directories, and what Go files declare, bare and by the name of their
// directory.
type tree struct {
	paths    map[string]bool
	declared map[string]bool
}

// missing returns the names in a page that the tree does not have. A path may also be relative to an earlier one on its line. A
// page for users names only paths from the root, and no declarations.
func (t tree) missing(page string, forUsers bool) []string {
	var out []string
	for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
		near := bases()
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			s := m[1]
			first, _, nested := strings.Cut(s, "/")
			switch {
			case nested && plainPath.MatchString(s) && slices.Contains(roots(), first):
				if !t.paths[path.Clean(s)] {
					out = append(out, s)
				}
				near = append(near, path.Clean(s), path.Dir(path.Clean(s)))
			case forUsers:
			case goFile.MatchString(s) && plainPath.MatchString(s):
				if !t.any(near, s) {
					out = append(out, s)
				}
				for _, b := range near {
					if p := path.Join(b, s); t.paths[p] {
						near = append(near, path.Dir(p))
					}
				}
			case qualified.MatchString(s), mixedCase.MatchString(s):
				if !t.declared[s] {
					out = append(out, s)
				}
			}
			if t.paths[path.Join("pkg/manifest/internal", s)] {
				near = append(near, path.Join("pkg/manifest/internal", s))
			}
		}
	}
	return out
}

// directories returns the directories that a layout names, and the names of directories that the tree does not have. Each entry begins
// in the first column; what follows is relative to it, to its internal directory or to a directory before.
func (t tree) directories(layout string) (named map[string]bool, missing []string) {
	var near []string
	named = map[string]bool{}
	for line := range strings.Lines(layout) {
		if line[0] != ' ' {
			near = []string{""}
		}
		for _, found := range directory.FindAllString(line, -1) {
			name := path.Clean(strings.TrimRight(found, " \n:;,.)"))
			if !t.any(near, name) {
				missing = append(missing, name)
			}
			for _, b := range slices.Clone(near) {
				if p := path.Join(b, name); t.paths[p] {
					near, named[p] = append(near, p), true
				}
			}
		}
	}
	return named, missing
}

func (t tree) any(near []string, name string) bool {
	return slices.ContainsFunc(near, func(b string) bool { return t.paths[path.Join(b, name)] })
}

// block returns the first listing of text after a line of a page.
func block(page, after string) string {
	_, rest, _ := strings.Cut(page, after)
	_, rest, _ = strings.Cut(rest, "```text\n")
	out, _, _ := strings.Cut(rest, "```")
	return out
}

// misdrawn returns the errors in a diagram of the levels, for the packages of the engine. Each line is a level, and the highest
// level is first.
func misdrawn(picture string, all []layer) []string {
	const engine = "pkg/manifest/internal/"
	levels := map[string]int{}
	for _, r := range all {
		// Packages that only tests import are omitted.
		if name, ok := strings.CutPrefix(r.path, engine); ok && name != "fakeapi" {
			levels[name] = r.level
		}
	}
	var out []string
	above := math.MaxInt
	drawn := map[string]bool{}
	for _, m := range levelLine.FindAllStringSubmatch(picture, -1) {
		lowest := above
		for name := range strings.FieldsSeq(m[1]) {
			drawn[name] = true
			level, ok := levels[name]
			switch {
			case !ok:
				out = append(out, name+" does not exist")
			case level >= above:
				out = append(out, name+" is not below the line before")
			}
			lowest = min(lowest, level)
		}
		above = lowest
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		if !drawn[name] {
			out = append(out, name+" is missing")
		}
	}
	return out
}

// unexported returns the identifiers in a page about the library that its API does not have.
func unexported(page, api string) []string {
	sections := map[string]string{}
	for _, s := range strings.Split("\n"+api, "\n# ")[1:] {
		name, text, _ := strings.Cut(s, "\n")
		sections[path.Base(name)] = text
	}
	page = theirs.ReplaceAllString(page, "")
	var out []string
	for _, m := range selector.FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`(?m)^(func|type|const|var) ` + m[2] + `\b`).MatchString(sections[m[1]]) {
			out = append(out, m[0])
		}
	}
	for _, m := range member.FindAllStringSubmatch(page, -1) {
		_, body, _ := strings.Cut(sections["manifest"], "\ntype "+m[1]+" struct {")
		body, _, _ = strings.Cut(body, "\n}")
		method := regexp.MustCompile(`(?m)^func \(\w+ \*?` + m[1] + `\) ` + m[2] + `\(`)
		field := regexp.MustCompile(`(?m)^\t(\w+, )*` + m[2] + `\b`)
		if !method.MatchString(sections["manifest"]) && !field.MatchString(body) {
			out = append(out, m[1]+"."+m[2])
		}
	}
	for _, m := range option.FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`(?m)^func ` + m[1] + `\(`).MatchString(api) {
			out = append(out, m[1])
		}
	}
	return out
}

// repository reads the tree that this test is part of.
func repository(t *testing.T) (string, tree) {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := tree{paths: map[string]bool{}, declared: map[string]bool{}}
	for _, top := range roots() {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			all.paths[filepath.ToSlash(rel)] = true
			if !goFile.MatchString(p) {
				return nil
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, name := range declaredNames(parsed) {
				all.declared[name] = true
				all.declared[filepath.Base(filepath.Dir(p))+"."+name] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return root, all
}

func declaredNames(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPagesNameWhatExists(t *testing.T) {
	root, all := repository(t)
	page := read(t, root, "CONTRIBUTING.md")
	for _, name := range all.missing(page, false) {
		t.Errorf("CONTRIBUTING.md names %s, which does not exist", name)
	}
	layout := block(page, "\n## Layout")
	named, absent := all.directories(layout)
	for _, name := range absent {
		t.Errorf("the layout in CONTRIBUTING.md names %s, which does not exist", name)
	}
	for _, p := range packages(t) {
		if name := p.path(); !named[name] {
			t.Errorf("the layout in CONTRIBUTING.md does not name %s", name)
		}
	}
	for _, fault := range misdrawn(block(page, "lower levels only:"), layers()) {
		t.Errorf("the picture in CONTRIBUTING.md: %s", fault)
	}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatal("no pages in docs", err)
	}
	for _, doc := range docs {
		for _, name := range all.missing(read(t, doc), true) {
			t.Errorf("docs/%s names %s, which does not exist", filepath.Base(doc), name)
		}
	}
	api := read(t, root, "docs", "library-api.txt")
	for _, name := range unexported(read(t, root, "docs", "library.md"), api) {
		t.Errorf("docs/library.md names %s, which docs/library-api.txt does not have", name)
	}
}

func TestMissing(t *testing.T) {
	all := tree{
		paths: map[string]bool{
			"pkg/manifest/internal/plan": true, "pkg/manifest/internal/plan/build.go": true, "pkg/manifest": true,
			"pkg/manifest/internal": true, "internal/cli/root.go": true, "internal/target/a.go": true, "internal/target/b.go": true,
		},
		declared: map[string]bool{"plan.Build": true, "digestOf": true},
	}
	cases := map[string]struct {
		reason, page string
		forUsers     bool
		want         []string
	}{
		"Exists":      {reason: "A path can begin at the root, at the directory of the file before it, or at a base directory.", page: "`internal/target/a.go`, `b.go`, `root.go`, `plan/build.go`"},
		"InPackage":   {reason: "A file can follow the package of the engine that contains it.", page: "`plan`: `build.go`"},
		"NoFile":      {reason: "A path from the root that does not exist is reported.", page: "`internal/target/c.go`", want: []string{"internal/target/c.go"}},
		"NotBeside":   {reason: "A file in the directory of no other file on the line is reported.", page: "`b.go`", want: []string{"b.go"}},
		"Functions":   {reason: "A function that does not exist is reported.", page: "`plan.Build`, `plan.Run`, `digestOf`, `digestFor`", want: []string{"plan.Run", "digestFor"}},
		"UserPath":    {reason: "Paths on pages for users are checked, too.", page: "`pkg/missing`", forUsers: true, want: []string{"pkg/missing"}},
		"UserOther":   {reason: "Names on pages for users can be those of the users.", page: "`main.go`, `createOnly`", forUsers: true},
		"NotOfOurs":   {reason: "Paths outside of the repository and commands are not checked.", page: "`modules/web`, `go test ./pkg/none`"},
		"InAFence":    {reason: "Code blocks are not checked.", page: "```text\n`pkg/missing`\n```\n"},
		"OnOtherLine": {reason: "A path can only be relative to a path on the same line.", page: "`internal/target/a.go`\n`b.go`", want: []string{"b.go"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, all.missing(tc.page, tc.forUsers)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDirectories(t *testing.T) {
	all := tree{paths: map[string]bool{"a": true, "a/b": true, "a/b/c": true, "d": true}}
	named, missing := all.directories("a/   what b/ has (c/, e/)\n     c/: more\nd/   no b/\n")
	if diff := cmp.Diff([]string{"e", "b"}, missing); diff != "" {
		t.Errorf("missing: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "a/b": true, "a/b/c": true, "d": true}, named); diff != "" {
		t.Errorf("named: -want, +got:\n%s", diff)
	}
}

func TestUnexported(t *testing.T) {
	api := "# pkg/manifest\n\nfunc Wait() Option\nfunc (e *Engine) Check()\ntype Bundle struct {\n\tName string\n}\n" +
		"# pkg/manifest/source\n\nfunc Path()\n"
	page := "`manifest.Wait()`, `source.Path`, `Engine.Check`, `Bundle.Name`; `source.Wait`, `Engine.Name`, `Bundle.Check`, `WithNone(s)`"
	want := []string{"source.Wait", "Engine.Name", "Bundle.Check", "WithNone"}
	if diff := cmp.Diff(want, unexported(page, api)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestMisdrawn(t *testing.T) {
	const dir = "pkg/manifest/internal/"
	all := []layer{{path: dir + "a", level: 3}, {path: dir + "b", level: 2}, {path: dir + "c", level: 2}, {path: "internal/x"}}
	cases := map[string]struct {
		reason, picture string
		want            []string
	}{
		"Fine":     {reason: "Each line of the picture shows one level.", picture: "│ ├─ a    │\n│ └─ b  c │\n └─── x"},
		"Order":    {reason: "The highest level must be on the first line.", picture: "├─ b  c\n└─ a", want: []string{"a is not below the line before"}},
		"OneLevel": {reason: "A level must not be on two lines.", picture: "├─ a\n├─ b\n└─ c", want: []string{"c is not below the line before"}},
		"Renamed":  {reason: "A name that does not exist, and one that is missing, are reported.", picture: "├─ a\n├─ b  d", want: []string{"d does not exist", "c is missing"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, misdrawn(tc.picture, all)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
