// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var (
	// key is a label, an annotation, a field manager or a finalizer of ours. One that ends with a period is a prefix.
	key = regexp.MustCompile(`^(kyma\.m\.crossplane\.io|operator\.kyma-project\.io)/[a-z.-]+$`)
	// documentedKey is one in a page.
	documentedKey = regexp.MustCompile("`((?:kyma\\.m\\.crossplane\\.io|operator\\.kyma-project\\.io)/[a-z.-]+)")
	testPath      = regexp.MustCompile("`(?:[a-z]+/)+[a-z_]+\\.go`")
	kind          = regexp.MustCompile(`(?m)^    kind: (\w+)$`)
)

// untested returns the interfaces in the table of stability that have a promise but no test.
func untested(page string) []string {
	_, rows, _ := strings.Cut(page, "| Interface | Level |")
	rows, _, _ = strings.Cut(rows, "\n\n")
	var out []string
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		if len(cells) == 6 && strings.TrimSpace(cells[2]) != "Internal" && !strings.Contains(cells[4], "`") && !strings.Contains(cells[1], "---") {
			out = append(out, strings.TrimSpace(cells[1]))
		}
	}
	return out
}

func TestStabilityNamesTests(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, root, "docs", "stability.md")
	for _, name := range untested(page) {
		t.Errorf("docs/stability.md names no test for %s", name)
	}
	const table = "| Interface | Level | What is covered | Test |\n|---|---|---|---|\n"
	got := untested(table + "| A | Stable | x | `a.go` |\n| B | Beta | y | |\n| C | Internal | | |\n\n| D | Beta | y | |\n")
	if diff := cmp.Diff([]string{"B"}, got); diff != "" {
		t.Errorf("untested(...): -want, +got:\n%s", diff)
	}
}

// TestStabilityIsComplete checks that the page of stability lists all interfaces, kinds, labels and annotations, and nothing else, and
// that the tests that it names exist.
func TestStabilityIsComplete(t *testing.T) {
	root, _ := repository(t)
	page := read(t, root, "docs", "stability.md")
	for _, name := range []string{
		"Content of target clusters", "Exit codes", "Go library", "Flags of the provider", "Metrics", "Events, and reasons of conditions", "Kinds",
		"Labels and annotations of these kinds",
	} {
		if !strings.Contains(page, "\n| "+name+" | ") {
			t.Errorf("docs/stability.md does not list %s", name)
		}
	}
	for _, path := range testPath.FindAllString(page, -1) {
		if _, err := os.Stat(filepath.Join(root, strings.Trim(path, "`"))); err != nil {
			t.Errorf("docs/stability.md names a test that does not exist: %v", err)
		}
	}
	listed := section(page, "Labels and annotations")
	documented := map[string]bool{}
	for _, m := range documentedKey.FindAllStringSubmatch(listed, -1) {
		documented[m[1]] = true
	}
	if diff := cmp.Diff(declaredKeys(t, root), documented); diff != "" {
		t.Errorf("labels and annotations: -code, +docs/stability.md:\n%s", diff)
	}
	if diff := cmp.Diff(kinds(t, root), spans(section(page, "Kinds"))); diff != "" {
		t.Errorf("kinds: -package/crds, +docs/stability.md:\n%s", diff)
	}
}

// declaredKeys returns the keys in the code.
func declaredKeys(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"apis", "cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, _ fs.DirEntry, err error) error {
			if err != nil || !goFile.MatchString(p) || strings.HasSuffix(p, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			maps.Copy(out, keys(f))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// keys returns the keys that a file contains as a literal.
func keys(f *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if e, ok := n.(*ast.BasicLit); ok {
			if s, ok := literal(e); ok && key.MatchString(s) {
				out[s] = true
			}
		}
		return true
	})
	return out
}

// kinds returns the kinds of the CRDs, sorted.
func kinds(t *testing.T, root string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "package", "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	var out []string
	for _, f := range files {
		for _, m := range kind.FindAllStringSubmatch(read(t, root, "package", "crds", filepath.Base(f)), -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return out
}

// spans returns the names of kinds in the code spans of a text, sorted.
func spans(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

func TestKeys(t *testing.T) {
	const source = `package a

const a, b = "kyma.m.crossplane.io/one", "operator.kyma-project.io/two"

var c = map[string]string{"kyma.m.crossplane.io/used-by.": "kyma.m.crossplane.io/v1alpha1 is not a key"}

var d = "Set kyma.m.crossplane.io/three."
`
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"kyma.m.crossplane.io/one": true, "operator.kyma-project.io/two": true, "kyma.m.crossplane.io/used-by.": true}
	if diff := cmp.Diff(want, keys(f)); diff != "" {
		t.Errorf("keys(...): -want, +got:\n%s", diff)
	}
}
