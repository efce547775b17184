// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/hack/figures/survey"
)

const module = "github.com/crossplane-contrib/provider-kyma"

func main() {
	roots := os.Args[1:]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if err := run(roots, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the figures of the repositories in the root directories.
func run(roots []string, out io.Writer) error {
	columns, names := make([]map[string]string, 0, len(roots)), []string{}
	for _, root := range roots {
		s, err := survey.Read(os.DirFS(root), module)
		if err != nil {
			return errors.Wrap(err, root)
		}
		rows := rowsOf(s)
		column := make(map[string]string, len(rows))
		for _, r := range rows {
			column[r.name] = r.value
			if !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
		}
		columns = append(columns, column)
	}
	_, err := io.WriteString(out, table(roots, names, columns))
	return errors.Wrap(err, "cannot print the figures")
}

func table(roots, names []string, columns []map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(roots, " | "), strings.Repeat("---|", len(roots)))
	for _, name := range names {
		fmt.Fprintf(&b, "| %s |", name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", cmp.Or(c[name], "-"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A row is a figure with its name.
type row struct{ name, value string }

// rowsOf returns the figures of a survey: first those of the whole repository, then the lines of each directory.
func rowsOf(s *survey.Survey) []row {
	var functions []int
	var all, worst survey.References
	worstPath := ""
	files, lines, tests, largest := 0, 0, 0, 0
	byDirectory := map[string][2]int{}
	for _, p := range s.Packages {
		refs := p.References()
		all.All, all.Circular = all.All+refs.All, all.Circular+refs.Circular
		if refs.Circular > worst.Circular {
			worst, worstPath = refs, p.Path
		}
		n := p.Lines()
		files, lines, tests, largest = files+len(p.Files), lines+n, tests+p.TestLines, max(largest, n)
		for _, f := range p.Files {
			functions = append(functions, f.Functions...)
		}
		dir := directoryOf(p.Path)
		byDirectory[dir] = [2]int{byDirectory[dir][0] + n, byDirectory[dir][1] + p.TestLines}
	}
	slices.Sort(functions)
	out := []row{
		{"packages, files", fmt.Sprintf("%d, %d", len(s.Packages), files)},
		{"lines of code, lines of tests", fmt.Sprintf("%d, %d", lines, tests)},
		{"lines of the largest package", strconv.Itoa(largest)},
		{"functions: number, median, p90, longest", fmt.Sprintf("%d, %d, %d, %d",
			len(functions), percentile(functions, 50), percentile(functions, 90), percentile(functions, 100))},
		{"references between files of a package: total, circular", fmt.Sprintf("%d, %d", all.All, all.Circular)},
		{"package with the most circular references", fmt.Sprintf("%s %d, %d", cmp.Or(worstPath, "none"), worst.All, worst.Circular)},
	}
	out = append(out, typeRows(s)...)
	for _, dir := range slices.Sorted(maps.Keys(byDirectory)) {
		out = append(out, row{"`" + dir + "`: code, tests", fmt.Sprintf("%d, %d", byDirectory[dir][0], byDirectory[dir][1])})
	}
	return out
}

// directoryOf returns the first elements of the path of a package: four below pkg/manifest/internal, two elsewhere.
func directoryOf(p string) string {
	elements, most := strings.Split(p, "/"), 2
	if strings.HasPrefix(p, "pkg/manifest/internal/") {
		most = 4
	}
	return strings.Join(elements[:min(len(elements), most)], "/")
}

// percentile returns the p-th percentile of sorted numbers by the nearest rank, or 0 if there are none.
func percentile(sorted []int, p int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// typeRows returns the figures about methods. Methods of embedded types count for the types that embed them, too.
func typeRows(s *survey.Survey) []row {
	type methods struct {
		key      string
		n, files int
	}
	var all []methods
	scattered, total := 0, 0
	for _, key := range s.Types() {
		byFile := s.MethodsOf(key)
		m := methods{key: key, files: len(byFile)}
		for _, n := range byFile {
			m.n += n
		}
		if m.n == 0 {
			continue
		}
		all, total = append(all, m), total+m.n
		if m.files > 4 {
			scattered++
		}
	}
	slices.SortStableFunc(all, func(a, b methods) int { return b.n - a.n })
	var most []string
	for _, m := range all[:min(len(all), 5)] {
		most = append(most, fmt.Sprintf("%s %d in %d files", m.key, m.n, m.files))
	}
	return []row{
		{"types with methods, mean number of methods", fmt.Sprintf("%d, %.1f", len(all), float64(total)/float64(max(len(all), 1)))},
		{"types with methods in more than 4 files", strconv.Itoa(scattered)},
		{"types with the most methods", strings.Join(most, "; ")},
	}
}
