// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// licenseFile matches the names of files that contain a license.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// licenseTexts contains a sentence of each license that the tests know, with white space collapsed.
func licenseTexts() map[string]string {
	return map[string]string{
		"Apache-2.0": "Apache License Version 2.0",
		"BSD":        "Redistribution and use in source and binary forms",
		"GPL":        "GNU GENERAL PUBLIC LICENSE",
		"AGPL":       "GNU AFFERO GENERAL PUBLIC LICENSE",
		"ISC":        "Permission to use, copy, modify, and",
		"LGPL":       "GNU LESSER GENERAL PUBLIC LICENSE",
		"MIT":        "Permission is hereby granted, free of charge, to any person obtaining a copy",
		"MPL-2.0":    "Mozilla Public License Version 2.0",
	}
}

// licensed contains the modules whose license is not that of allowedLicenses, or is not in the module, with their license.
func licensed() map[string][]string {
	return map[string][]string{
		// Used without changes, which is what this license requires.
		"github.com/cyphar/filepath-securejoin": {"BSD", "MPL-2.0"},
		// The license is in the root of the repository, of which the module is a subdirectory.
		"github.com/gardener/component-spec/bindings-go": nil,
	}
}

// allowedLicenses returns the licenses that modules of the binaries can have.
func allowedLicenses() []string { return []string{"Apache-2.0", "BSD", "ISC", "MIT"} }

// TestLicenses checks that each module that is part of a binary has a license that allows distributing it.
func TestLicenses(t *testing.T) {
	root, _ := repository(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		got := licenses(licenseOf(t, dir))
		if want, ok := licensed()[path]; ok {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want licenses, +got:\n%s", path, diff)
			}
			continue
		}
		if why := unlicensed(got); why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
	for path := range licensed() {
		if !seen[path] {
			t.Errorf("%s is not part of a binary: remove it from licensed", path)
		}
	}
}

// licenseOf returns the text of all licenses in the root of a module.
func licenseOf(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	return out.String()
}

// licenses returns the licenses that a text contains, sorted.
func licenses(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	var out []string
	for name, sentence := range licenseTexts() {
		// Titles are compared with their case: the MPL mentions the names of other licenses.
		if strings.Contains(text, sentence) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// unlicensed returns why a module with these licenses cannot be distributed, or an empty string.
func unlicensed(found []string) string {
	if len(found) == 0 {
		return "no known license"
	}
	for _, l := range found {
		if !slices.Contains(allowedLicenses(), l) {
			return "the license " + l + " is not in allowedLicenses"
		}
	}
	return ""
}

func TestUnlicensed(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Apache": {reason: "The license of this repository, with its line breaks.", text: "   Apache License\n   Version 2.0, January 2004\n"},
		"Two":    {reason: "Parts of a module can have another license.", text: "Apache License Version 2.0 ... Redistribution and use in source\nand binary forms"},
		"None":   {reason: "Without a license, nothing is allowed.", text: "Copyright by its authors", want: "no known license"},
		"GPL":    {reason: "A binary with such a module must have its license.", text: "Permission is hereby granted, free of charge, to any person obtaining a copy\n\nGNU GENERAL PUBLIC LICENSE", want: "the license GPL is not in allowedLicenses"},
		"MPL":    {reason: "Such a module is checked by a person.", text: "Mozilla Public License Version 2.0", want: "the license MPL-2.0 is not in allowedLicenses"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, unlicensed(licenses(tc.text))); diff != "" {
				t.Errorf("\n%s\nunlicensed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
