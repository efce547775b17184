// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	write := func(dir, name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, after := t.TempDir(), t.TempDir()
	write(before, "pkg/manifest/a.go", "package a\ntype T struct{}\nfunc (T) m() {\n\n\n}\n")
	write(after, "pkg/manifest/internal/x/y/a.go", "package a\ntype T struct{}\nfunc (T) m() {\n}\n")
	write(after, "pkg/manifest/a_test.go", "package a\n")
	var out strings.Builder
	if err := run([]string{before, after}, &out); err != nil {
		t.Fatal(err)
	}
	want := `| | BEFORE | AFTER |
|---|---|---|
| packages, files | 1, 1 | 2, 1 |
| lines of code, lines of tests | 6, 0 | 4, 1 |
| lines of the largest package | 6 | 4 |
| functions: number, median, p90, longest | 1, 2, 2, 2 | 1, 0, 0, 0 |
| references between files of a package: total, circular | 0, 0 | 0, 0 |
| package with the most circular references | none 0, 0 | none 0, 0 |
| types with methods, mean number of methods | 1, 1.0 | 1, 1.0 |
| types with methods in more than 4 files | 0 | 0 |
| types with the most methods | pkg/manifest.T 1 in 1 files | pkg/manifest/internal/x/y.T 1 in 1 files |
| ` + "`pkg/manifest`" + `: code, tests | 6, 0 | 0, 1 |
| ` + "`pkg/manifest/internal/x`" + `: code, tests | - | 4, 0 |
`
	got := strings.NewReplacer(before, "BEFORE", after, "AFTER").Replace(out.String())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run(...): -want, +got:\n%s", diff)
	}
}

func TestPercentile(t *testing.T) {
	cases := map[string]struct {
		reason string
		sorted []int
		p      int
		want   int
	}{
		"None":   {reason: "There may be no function.", p: 90},
		"One":    {reason: "One is every percentile.", sorted: []int{7}, p: 50, want: 7},
		"Median": {reason: "Half of them do not exceed the median.", sorted: []int{1, 2, 3, 4}, p: 50, want: 2},
		"Ninety": {reason: "Nine of ten do not exceed it.", sorted: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, p: 90, want: 9},
		"Most":   {reason: "The highest percentile is the maximum.", sorted: []int{1, 2, 3}, p: 100, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := percentile(tc.sorted, tc.p); got != tc.want {
				t.Errorf("%s: percentile(%v, %d) = %d, want %d", tc.reason, tc.sorted, tc.p, got, tc.want)
			}
		})
	}
}
