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
		data   string
		text   string
		want   []string
	}{
		"Clean":         {reason: "Plain English passes.", text: "Directories are read once, and no one else writes them."},
		"Word":          {reason: "A word is banned in any case.", text: "Whoever writes it", want: []string{"nobody, somebody, whoever"}},
		"PartOfWord":    {reason: "A word in another one is fine.", text: "Kubernetes on GitHub; security; a childhood; recommended"},
		"Several":       {reason: "Each rule is reported.", text: "Each folder is made anew", want: []string{"anew", "folder"}},
		"IsNo":          {reason: "A negated noun is banned.", text: "this is no file", want: []string{"is no"}},
		"IsNoLonger":    {reason: "An adverb is fine.", text: "it is no longer there, and there is no file"},
		"Both":          {reason: "One match that is fine does not hide another one.", text: "it is no longer so, and this is no file", want: []string{"is no"}},
		"Definition":    {reason: "It is a CRD.", text: "the definitions of a chart", want: []string{"definition"}},
		"OtherMeaning":  {reason: "Modules have definitions.", text: "the module definition"},
		"Resource":      {reason: "It is the full name of a CRD.", text: "a CustomResourceDefinition, or custom resource definition"},
		"OtherPackage":  {reason: "A package reads module definitions.", file: "internal/module/definition/a.go", text: "a definition"},
		"Importer":      {reason: "Its users do, too.", file: "a.go", data: "\"example.org/internal/module/definition\"", text: "a definition"},
		"NoImporter":    {reason: "Other packages of modules don't.", file: "internal/module/a.go", text: "a definition", want: []string{"definition"}},
		"Claims":        {reason: "A claim is an object of Crossplane.", text: "It claims the object", want: []string{"claim (as a verb)"}},
		"Claim":         {reason: "The object has this name.", text: "edit the claim to claim two modules; its claim the next day"},
		"ClaimOfCosign": {reason: "cosign calls its payload a claim.", file: "internal/cosign/a.go", text: "claims the digest"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range find(rulesFor(rules(), tc.file, []byte(tc.data)), line{text: tc.text}) {
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
	goFile := "package a\n\n// A comment\n// made anew.\nvar a = `two\nmade anew` + \"b\"\n"
	table := tableOfWords + " Write |\n|---|---|\n| anew | again |\n\n| anew |\n"
	cases := map[string]struct {
		reason string
		files  fstest.MapFS
		want   []string
	}{
		"Go":       {reason: "Comments and texts are read.", files: fstest.MapFS{"a.go": {Data: []byte(goFile)}}, want: []string{"a.go:4", "a.go:6"}},
		"Markdown": {reason: "Code is not read.", files: fstest.MapFS{"a.md": {Data: []byte("Call `anew`.\n```\nanew\n```\nMade anew.\n")}}, want: []string{"a.md:5"}},
		"YAML":     {reason: "Values that read like prose are read.", files: fstest.MapFS{"a.yaml": {Data: []byte("anew: 1\nmade: it is made anew\n")}}, want: []string{"a.yaml:2"}},
		"Others":   {reason: "Other files are not read.", files: fstest.MapFS{"a.txt": bad, "a.png": bad}},
		"NotOurs":  {reason: "Generated and hidden files are not read.", files: fstest.MapFS{"package/crds/a.yaml": bad, ".git/a.yaml": bad, "x/testdata/a.yaml": bad}},
		"Settings": {reason: "Settings of tools are read.", files: fstest.MapFS{".golangci.yml": bad}, want: []string{".golangci.yml:1"}},
		"FileName": {reason: "Names of files are read.", files: fstest.MapFS{"a/new_folder.png": {}, "b/hub.go": {}}, want: []string{"a/new_folder.png:1"}},
		"XRD":      {reason: "Crossplane calls the file of an XRD a definition.", files: fstest.MapFS{"a/definition.yaml": {}, "b/claim-definition.yaml": {}}},
		"CRD":      {reason: "Other files aren't called a definition.", files: fstest.MapFS{"a/definition.go": {}}, want: []string{"a/definition.go:1"}},
		"Makefile": {reason: "Makefiles are read.", files: fstest.MapFS{"Makefile": bad, "a/Makefile": bad}, want: []string{"Makefile:1", "a/Makefile:1"}},
		"Shell":    {reason: "Scripts are read with their output.", files: fstest.MapFS{"a.sh": {Data: []byte("# a\necho made anew\n")}}, want: []string{"a.sh:2"}},
		"Script":   {reason: "Scripts are recognized without an extension, also in .ci.", files: fstest.MapFS{".ci/run": {Data: []byte("#!/bin/sh\n# anew\n")}}, want: []string{".ci/run:2"}},
		"Table":    {reason: "The table of the words may contain them.", files: fstest.MapFS{"CONTRIBUTING.md": {Data: []byte(table)}}, want: []string{"CONTRIBUTING.md:5"}},
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

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   int
	}{
		"Function":    {reason: "Functions are checked.", source: "func readFolder() {}", want: 1},
		"Method":      {reason: "Methods are checked.", source: "func (a A) tell() {}", want: 1},
		"Type":        {reason: "Types are checked.", source: "type Folder struct{}", want: 1},
		"Field":       {reason: "Fields are checked.", source: "type a struct{ folder string }", want: 1},
		"Interface":   {reason: "Methods of interfaces are checked.", source: "type a interface{ Tell() }", want: 1},
		"Parameter":   {reason: "Parameters and results are checked.", source: "func a(folder string) (stranger int)", want: 2},
		"Variables":   {reason: "Variables and constants are checked.", source: "var aFolder int\nconst _, FOLDER_B = 1, 2", want: 2},
		"Local":       {reason: "Local variables are checked.", source: "func a() { folder, b := 1, 2; for folders := range b {} }", want: 2},
		"Phrase":      {reason: "A name can contain a phrase.", source: "func takeItBack() {}", want: 1},
		"Acronym":     {reason: "An acronym is a word.", source: "func ofOCIFolder() {}", want: 1},
		"String":      {reason: "Strings of one word are checked.", source: "var a = f(\"strangers\", `NewFolder`)", want: 2},
		"Use":         {reason: "Identifiers of other packages are not checked.", source: "var a = b.Folder(c.Tell)"},
		"Import":      {reason: "Import paths are not checked.", source: "import \"example.org/folder\""},
		"Tag":         {reason: "Keys of serialized fields are not checked.", source: "type a struct { A int `json:\"yields\"` }"},
		"Iterator":    {reason: "Iterators have a parameter yield.", source: "func a(yield func(int) bool) {}"},
		"PartOfWord":  {reason: "A word in another one is fine.", source: "func untold(intellect, retell int) {}"},
		"ProseOnly":   {reason: "Rules for prose do not apply to names.", source: "func getHub(claimed int) {}"},
		"NamesOnly":   {reason: "Rules for names do not apply to prose.", source: "// The message tells why.\nvar a int"},
		"Unparseable": {reason: "The compiler reports a file that is not valid.", source: "func folder("},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			n, err := check(fstest.MapFS{"a.go": {Data: []byte("package a\n" + tc.source)}}, &out)
			if err != nil {
				t.Fatal(err)
			}
			if n != tc.want {
				t.Errorf("\n%s\ncheck(...): want %d, got %d:\n%s", tc.reason, tc.want, n, out.String())
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
