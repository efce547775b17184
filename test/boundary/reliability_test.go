// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// namedTest matches the name of a test in docs/reliability.md, and its directory if the page names one.
var namedTest = regexp.MustCompile("`([^`]+)`(?: in `([^`]+)`)?")

// TestReliability checks that docs/reliability.md is sorted by finding, and that each test that it names exists: a test function, its
// case, or the text of a spec. If several directories have a test of this name, the page must name one of them.
func TestReliability(t *testing.T) {
	root, _ := repository(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testSources(t, root)
	var findings []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "Finding" {
			continue
		}
		findings = append(findings, strings.TrimSpace(cells[1]))
		for _, why := range misnamed(cells[2], tests) {
			t.Errorf("docs/reliability.md, finding%s: %s", cells[1], why)
		}
	}
	if !slices.IsSortedFunc(findings, compareFindings) {
		t.Errorf("the findings in docs/reliability.md are not sorted: %q", findings)
	}
}

// misnamed returns what is wrong with the tests that a cell of docs/reliability.md names. The sources of the tests are by directory.
func misnamed(cell string, tests map[string]string) []string {
	named := namedTest.FindAllStringSubmatch(cell, -1)
	if len(named) == 0 {
		return []string{"no test is named"}
	}
	var out []string
	for _, m := range named {
		var dirs []string
		for dir, source := range tests {
			if (m[2] == "" || m[2] == dir) && hasTest(source, m[1]) {
				dirs = append(dirs, dir)
			}
		}
		slices.Sort(dirs)
		switch {
		case len(dirs) == 0 && m[2] != "":
			out = append(out, fmt.Sprintf("%s has no test %q", m[2], m[1]))
		case len(dirs) == 0:
			out = append(out, fmt.Sprintf("there is no test %q", m[1]))
		case len(dirs) > 1:
			out = append(out, fmt.Sprintf("the test %q exists in several directories, name one: %s", m[1], strings.Join(dirs, ", ")))
		}
	}
	return out
}

// hasTest reports whether sources contain a test function, such as TestCheck, with a case, such as TestCheck/Empty, or the text of a
// spec.
func hasTest(source, name string) bool {
	if strings.ContainsRune(name, ' ') {
		return strings.Contains(source, `"`+name+`"`)
	}
	function, of, _ := strings.Cut(name, "/")
	return strings.Contains(source, "\nfunc "+function+"(") && (of == "" || strings.Contains(source, `"`+of+`"`))
}

func TestMisnamed(t *testing.T) {
	tests := map[string]string{
		"a":   "package a\n\nfunc TestOne(t *testing.T) {\n\tx(\"Empty\")\n}\n\nfunc TestTwo(t *testing.T) {}\n",
		"b/c": "package c\n\nfunc TestTwo(t *testing.T) {}\n\nvar _ = It(\"waits for it\")\n",
	}
	cases := map[string]struct {
		reason string
		cell   string
		want   []string
	}{
		"Exists":         {reason: "A name that one directory has is enough.", cell: " `TestOne`, `waits for it` "},
		"Case":           {reason: "A case can be named.", cell: "`TestOne/Empty`"},
		"Directory":      {reason: "A directory selects one of several tests.", cell: "`TestTwo` in `b/c`, `TestTwo` in `a`"},
		"None":           {reason: "A finding without a test is not shown to be fixed.", cell: " later ", want: []string{"no test is named"}},
		"Missing":        {reason: "A test may have been renamed.", cell: "`TestThree`, `TestOn`", want: []string{`there is no test "TestThree"`, `there is no test "TestOn"`}},
		"MissingCase":    {reason: "A missing case is reported.", cell: "`TestOne/Full`", want: []string{`there is no test "TestOne/Full"`}},
		"MissingSpec":    {reason: "A missing spec is reported.", cell: "`waits for`", want: []string{`there is no test "waits for"`}},
		"Ambiguous":      {reason: "Any of them could be meant.", cell: "`TestTwo`", want: []string{`the test "TestTwo" exists in several directories, name one: a, b/c`}},
		"OtherDirectory": {reason: "A test of this name elsewhere is another one.", cell: "`TestOne` in `b/c`", want: []string{`b/c has no test "TestOne"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, misnamed(tc.cell, tests)); diff != "" {
				t.Errorf("\n%s\nmisnamed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// compareFindings orders findings by their letter and number; A9 comes before A10.
func compareFindings(a, b string) int {
	if a != "" && b != "" && a[0] == b[0] && len(a) != len(b) && !strings.ContainsAny(a+b, ", ") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// testSources returns the text of all tests and specs by directory.
func testSources(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		spec := strings.HasPrefix(path, filepath.Join(root, "test")) && strings.HasSuffix(path, ".go")
		if d.IsDir() || !spec && !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		out[filepath.ToSlash(dir)] += string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
