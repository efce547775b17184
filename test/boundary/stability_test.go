// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// untested returns the interfaces in the table of stability that have a promise but no test.
func untested(page string) []string {
	_, rows, _ := strings.Cut(page, "| Interface | Level |")
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
	if diff := cmp.Diff([]string{"B"}, untested(table+"| A | Stable | x | `a.go` |\n| B | Beta | y | |\n| C | Internal | | |\n")); diff != "" {
		t.Errorf("untested(...): -want, +got:\n%s", diff)
	}
}
