// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	external = regexp.MustCompile(`^[a-z]+:`)
	markup   = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors returns the anchors of the headings of a page, in the format of GitHub.
func anchors(page string) map[string]bool {
	out, seen := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		a := strings.ReplaceAll(markup.ReplaceAllString(strings.ToLower(link.ReplaceAllString(m[1], "]")), ""), " ", "-")
		if n := seen[a]; n > 0 {
			out[a+"-"+strconv.Itoa(n)] = true
		}
		seen[a]++
		out[a] = true
	}
	return out
}

// broken returns the relative links of a page whose targets do not exist. exists reports whether a path exists, and pages maps
// the paths of all pages to their texts.
func broken(name string, pages map[string]string, exists func(string) bool) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(pages[name], ""), -1) {
		if external.MatchString(m[1]) {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		page, isPage := pages[target]
		switch {
		case !exists(target), isPage && anchor != "" && !anchors(page)[anchor]:
			out = append(out, m[1])
		}
	}
	return out
}

func TestLinks(t *testing.T) {
	root, _ := repository(t)
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Texts in internal become parts of pages in docs.
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "internal") {
			return filepath.SkipDir
		}
		if filepath.Ext(p) != ".md" {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		pages[filepath.ToSlash(rel)] = read(t, p)
		return nil
	})
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	exists := func(p string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
		return err == nil
	}
	for name := range pages {
		for _, l := range broken(name, pages, exists) {
			t.Errorf("%s: the link %s leads nowhere", name, l)
		}
	}
}

func TestBroken(t *testing.T) {
	pages := map[string]string{
		"docs/b.md": "# First steps\n\n## `field`, and more\n\n## Again\n\n## Again\n\n```sh\n# comment\n```\n",
		"docs/a.md": "",
	}
	exists := func(p string) bool { _, ok := pages[p]; return ok || p == "docs" }
	cases := map[string]struct {
		reason, page string
		want         []string
	}{
		"Page":      {reason: "A link can lead to a page, to its headings, and to a directory.", page: "[x](b.md), [x](b.md#first-steps), [x](b.md#field-and-more), [x](../docs)"},
		"Twice":     {reason: "The second heading with the same text gets a number.", page: "[x](b.md#again), [x](b.md#again-1)"},
		"Own":       {reason: "A link can lead to a heading of its own page.", page: "# Here\n\n[x](#here) [y](#there)", want: []string{"#there"}},
		"Missing":   {reason: "A link to a page or a heading that does not exist is reported.", page: "[x](c.md) [x](b.md#second)", want: []string{"c.md", "b.md#second"}},
		"InAFence":  {reason: "A comment in a code block is not a heading.", page: "[x](b.md#comment)", want: []string{"b.md#comment"}},
		"Elsewhere": {reason: "Links to other sites are not checked.", page: "[x](https://example.org/none)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pages["docs/a.md"] = tc.page
			if diff := cmp.Diff(tc.want, broken("docs/a.md", pages, exists)); diff != "" {
				t.Errorf("%s: broken(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
