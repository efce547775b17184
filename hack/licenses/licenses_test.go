// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/licenseclassifier/v2/assets"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// TestLicenses checks the licenses of the released programs, like make licenses.
func TestLicenses(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	got, err := run(t.Context(), root, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got {
		t.Error(f)
	}
	if !strings.Contains(out.String(), "  Apache-2.0\n") {
		t.Errorf("the summary does not contain the most frequent license:\n%s", &out)
	}
}

// TestPlatforms checks that packages of all platforms are read.
func TestPlatforms(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	// This package contains Go files for Windows only.
	const directory = "golang.org/x/sys"
	has := func(all ...program) bool {
		modules, err := linked(t.Context(), root, all)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(modules[directory].packages, func(p string) bool { return filepath.Base(p) == "windows" })
	}
	if has(program{"./cmd/kymactl", "linux", "amd64"}) || !has(program{"./cmd/kymactl", "windows", "amd64"}) {
		t.Error("want the packages for Windows in a program for Windows only")
	}
	if !slices.Contains(programs(), program{"./cmd/kymactl", "windows", "amd64"}) {
		t.Error("kymactl for Windows is not checked")
	}
}

// text returns the text of a license, which begins with a copyright notice.
func text(t *testing.T, file string) string {
	t.Helper()
	data, err := assets.ReadLicenseFile("License/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return "Copyright (c) The Authors\nAll rights reserved.\n\n" + string(data)
}

// TestUnlicensed checks modules with all kinds of license files.
func TestUnlicensed(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	mit, apache, bsd := text(t, "MIT/pristine.txt"), text(t, "Apache-2.0/pristine.txt"), text(t, "BSD-3-Clause/pristine.txt")
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"Allowed":     {reason: "Copyright notices and titles are accepted.", files: map[string]string{"LICENSE": "The MIT License\n\n" + mit}},
		"LineBreaks":  {reason: "White space doesn't matter.", files: map[string]string{"license.md": strings.ReplaceAll(apache, "\n", "\r\n  ")}},
		"Two":         {reason: "All files of the root count.", files: map[string]string{"LICENSE-APACHE": apache, "COPYING": bsd}},
		"None":        {reason: "A module without a license must not be distributed.", files: map[string]string{"README": mit}, want: "the module has no license file"},
		"Source":      {reason: "A Go file is not a license file.", files: map[string]string{"license.go": mit}, want: "the module has no license file"},
		"Empty":       {reason: "An empty file is not a license.", files: map[string]string{"LICENSE": ""}, want: "LICENSE is not a known license: "},
		"Unknown":     {reason: "An unknown text is not allowed.", files: map[string]string{"LICENSE": "Use it on Tuesdays."}, want: "LICENSE is not a known license: Use it on Tuesdays."},
		"Addition":    {reason: "Terms after a license count.", files: map[string]string{"LICENSE": mit + strings.Repeat("\nNot for competitors.", 20)}, want: "LICENSE is not a known license: Not for competitors."},
		"GPL":         {reason: "A program with this module must have its license.", files: map[string]string{"LICENSE": text(t, "GPL-3.0/license.txt")}, want: "the license GPL-3.0 is not allowed"},
		"AGPL":        {reason: "A service with this module must publish its sources.", files: map[string]string{"COPYING": text(t, "AGPL-3.0/license.txt")}, want: "the license AGPL-3.0 is not allowed"},
		"MPL":         {reason: "A person must check such a module.", files: map[string]string{"LICENSE": text(t, "MPL-2.0/license.txt")}, want: "the license MPL-2.0 is not allowed"},
		"Business":    {reason: "A license with limits on the use is not allowed.", files: map[string]string{"LICENSE": text(t, "Business-Source-License-1.1/license.txt")}, want: "the license Business-Source-License-1.1 is not allowed"},
		"Copied":      {reason: "Linked code that was copied has a license of its own.", files: map[string]string{"LICENSE": mit, "used/deep/COPYING": text(t, "GPL-2.0/license.txt")}, want: "the license GPL-2.0 is not allowed"},
		"Between":     {reason: "A license applies to the directories below it.", files: map[string]string{"LICENSE": mit, "used/LICENSE": text(t, "GPL-2.0/license.txt")}, want: "the license GPL-2.0 is not allowed"},
		"NotLinked":   {reason: "What is not linked is not distributed.", files: map[string]string{"LICENSE": mit, "unused/LICENSE": text(t, "GPL-2.0/license.txt")}},
		"SecondFile":  {reason: "One unknown file is enough.", files: map[string]string{"LICENSE": mit, "LICENSE.addendum": "Use it on Tuesdays."}, want: "LICENSE.addendum is not a known license: Use it on Tuesdays."},
		"BritishName": {reason: "The name of the file can be in British English.", files: map[string]string{"LICENCE.txt": mit}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newModule(t, tc.files)
			got, err := c.read(m)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(got); why != tc.want && (tc.want == "" || !strings.HasPrefix(why, tc.want)) {
				t.Errorf("%s\nforbidden(...): want %q, got %q", tc.reason, tc.want, why)
			}
		})
	}
}

// newModule writes the files of a module, of which the packages in the root and in used/deep are linked.
func newModule(t *testing.T, files map[string]string) module {
	t.Helper()
	root := t.TempDir()
	m := module{root: root, packages: []string{root, filepath.Join(root, "used", "deep")}}
	if err := os.MkdirAll(m.packages[1], 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestFaults(t *testing.T) {
	gpl := licensing{licenses: []string{"GPL-3.0"}}
	custom := licensing{licenses: []string{"MIT"}, unknown: map[string]string{"LICENSE": "Not for competitors."}}
	cases := map[string]struct {
		reason string
		found  licensing
		known  map[string]exception
		want   []string
	}{
		"Allowed":     {reason: "A module with an allowed license needs no exception.", found: licensing{licenses: []string{"MIT"}}},
		"Forbidden":   {reason: "A module with another license needs an exception.", found: gpl, want: []string{"x: the license GPL-3.0 is not allowed"}},
		"Exception":   {reason: "The exception allows exactly its licenses.", found: gpl, known: map[string]exception{"x": {licenses: []string{"GPL-3.0"}}}},
		"Changed":     {reason: "A new license must be reviewed.", found: gpl, known: map[string]exception{"x": {licenses: []string{"MPL-2.0"}}}, want: []string{"x: its licenses are GPL-3.0, want MPL-2.0 as in exceptions"}},
		"Unnecessary": {reason: "An exception must be removed with its cause.", found: licensing{licenses: []string{"MIT"}}, known: map[string]exception{"x": {licenses: []string{"MIT"}}}, want: []string{"x: its licenses are allowed: remove it from exceptions"}},
		"NotLinked":   {reason: "An exception must be removed with its module.", found: licensing{licenses: []string{"MIT"}}, known: map[string]exception{"y": {}}, want: []string{"y: it is not linked: remove it from exceptions"}},
		"Reviewed": {
			reason: "Text that a person read is accepted.", found: custom,
			known: map[string]exception{"x": {licenses: []string{"MIT"}, reviewed: map[string]string{"LICENSE": digest("Not for competitors.")}}},
		},
		"NotReviewed": {
			reason: "Text that changed must be read again.", found: custom,
			known: map[string]exception{"x": {licenses: []string{"MIT"}, reviewed: map[string]string{"LICENSE": digest("Other text.")}}},
			want:  []string{"x: LICENSE contains text that was not reviewed, with the digest " + digest("Not for competitors.") + ": Not for competitors."},
		},
		"NoText": {
			reason: "A review must be removed with its text.", found: custom,
			known: map[string]exception{"x": {licenses: []string{"MIT"}, reviewed: map[string]string{"LICENSE": digest("Not for competitors."), "COPYING": "0"}}},
			want:  []string{"x: COPYING contains no text to review: remove it from exceptions"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, faults(map[string]licensing{"x": tc.found}, tc.known)); diff != "" {
				t.Errorf("\n%s\nfaults(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
