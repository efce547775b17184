// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReliability checks that docs/reliability.md is sorted by finding, and that each test that it names exists: a test function, or
// the text of a spec.
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
		named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1)
		if len(named) == 0 {
			t.Errorf("docs/reliability.md names no test of finding%s", cells[1])
		}
		for _, n := range named {
			name, _, _ := strings.Cut(n[1], "/")
			if !strings.Contains(tests, "func "+name+"(") && !strings.Contains(tests, `"`+n[1]+`"`) {
				t.Errorf("docs/reliability.md names the test %q of finding%s, which doesn't exist", n[1], cells[1])
			}
		}
	}
	if !slices.IsSortedFunc(findings, compareFindings) {
		t.Errorf("the findings in docs/reliability.md are not sorted: %q", findings)
	}
}

// compareFindings orders findings by their letter and number; A9 comes before A10.
func compareFindings(a, b string) int {
	if a != "" && b != "" && a[0] == b[0] && len(a) != len(b) && !strings.ContainsAny(a+b, ", ") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// testSources returns the text of all tests and specs.
func testSources(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
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
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
