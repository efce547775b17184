// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		text   string
		want   []string
	}{
		"Clean":          {reason: "Plain English passes.", text: "Directories are read once, and no one else writes them."},
		"Word":           {reason: "A word is banned in any case.", text: "Whoever writes it", want: []string{"nobody, somebody, whoever"}},
		"PartOfWord":     {reason: "A word in another one is fine.", text: "Kubernetes on GitHub; security; a childhood; recommended"},
		"Several":        {reason: "Each rule is reported.", text: "Each folder is made anew", want: []string{"anew", "folder"}},
		"IsNo":           {reason: "A negated noun is banned.", text: "this is no file", want: []string{"is no"}},
		"IsNoLonger":     {reason: "An adverb is fine.", text: "it is no longer there, and there is no file"},
		"Both":           {reason: "One match that is fine does not hide another one.", text: "it is no longer so, and this is no file", want: []string{"is no"}},
		"Definition":     {reason: "It is a CRD.", text: "the definitions of a chart", want: []string{"definition"}},
		"OtherMeaning":   {reason: "Modules have definitions.", text: "the module definition"},
		"OtherDirectory": {reason: "Packages about modules read them.", file: "docs/module-yaml.md", text: "a definition"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range find(rules(), tc.file, tc.text) {
				got = append(got, r.name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	bad := &fstest.MapFile{Data: []byte("# It is made anew.\n")}
	goFile := "package a\n\n// A comment\n// made anew.\nvar anew = `two\nmade anew` + \"anew\"\n"
	cases := map[string]struct {
		reason string
		files  fstest.MapFS
		want   []string
	}{
		"Go":       {reason: "Comments and texts are read, identifiers and keys are not.", files: fstest.MapFS{"a.go": {Data: []byte(goFile)}}, want: []string{"a.go:4", "a.go:6"}},
		"Markdown": {reason: "Code is not read.", files: fstest.MapFS{"a.md": {Data: []byte("Call `anew`.\n```\nanew\n```\nMade anew.\n")}}, want: []string{"a.md:5"}},
		"YAML":     {reason: "Values that read like prose are read.", files: fstest.MapFS{"a.yaml": {Data: []byte("anew: 1\nmade: it is made anew\n")}}, want: []string{"a.yaml:2"}},
		"Others":   {reason: "Other files are not read.", files: fstest.MapFS{"a.txt": bad, "a.png": bad}},
		"NotOurs":  {reason: "What is generated or hidden is not read.", files: fstest.MapFS{"package/crds/a.yaml": bad, ".git/a.yaml": bad, "x/testdata/a.yaml": bad}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			n, err := check(tc.files, &out)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for l := range strings.Lines(out.String()) {
				place, _, _ := strings.Cut(l, ": ")
				got = append(got, place)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || n != len(tc.want) {
				t.Errorf("\n%s\ncheck(...): %d, -want, +got:\n%s", tc.reason, n, diff)
			}
		})
	}
}

// TestContributing checks that the table in CONTRIBUTING.md contains exactly the rules.
func TestContributing(t *testing.T) {
	_, page, found := strings.Cut(string(read(t, os.DirFS("../.."), "CONTRIBUTING.md")), "\n| Do not write | Write |\n|---|---|\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no table of words")
	}
	table, _, _ := strings.Cut(page, "\n\n")
	var want strings.Builder
	for _, r := range rules() {
		fmt.Fprintf(&want, "| %s | %s |\n", r.name, r.instead)
	}
	if diff := cmp.Diff(want.String(), table+"\n"); diff != "" {
		t.Errorf("the table of words: -rules, +CONTRIBUTING.md:\n%s", diff)
	}
}

func read(t *testing.T, root fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
