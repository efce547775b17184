// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/hack/figures/survey"
)

// Limits of a package, without tests and generated files.
const (
	maxPackageFiles = 20
	maxPackageLines = 2500
	// maxMethodFiles is the maximum number of files with methods of one type, or of the types that it embeds.
	maxMethodFiles = 4
)

// A size is the size of a package.
type size struct{ Files, Lines int }

// oversized returns the packages that still exceed the limits, with their allowed size. Split a package instead of raising its
// numbers, and lower them when it shrinks.
func oversized() map[string]size {
	return map[string]size{
		// All kinds of a version must be in one package. Most lines describe the fields for kubectl explain.
		"apis/v1alpha1": {Files: 20, Lines: 3200},
	}
}

// scattered returns the types whose methods are still in more files than the limit, with their allowed number.
func scattered() map[string]int {
	return map[string]int{}
}

// measure returns the packages of the repository by path, and the types with their methods.
func measure(t *testing.T) (map[string]*survey.Package, *survey.Survey) {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := survey.Read(os.DirFS(root), module)
	if err != nil {
		t.Fatal(err)
	}
	byPath := make(map[string]*survey.Package, len(all.Packages))
	for _, p := range all.Packages {
		byPath[p.Path] = p
	}
	return byPath, all
}

// tooLarge returns what is wrong with the size of a package, or an empty string. allowed is its entry in oversized, or the zero
// value.
func tooLarge(s, allowed size) string {
	files, lines := max(maxPackageFiles, allowed.Files), max(maxPackageLines, allowed.Lines)
	switch {
	case s.Files > files || s.Lines > lines:
		return fmt.Sprintf("it has %d files and %d lines, and may have %d and %d: split it", s.Files, s.Lines, files, lines)
	case allowed != size{} && s.Files <= maxPackageFiles && s.Lines <= maxPackageLines:
		return "it is within the limits: take it out of oversized"
	}
	return ""
}

func TestSizes(t *testing.T) {
	known, measured := oversized(), map[string]bool{}
	all, _ := measure(t)
	for path, p := range all {
		measured[path] = true
		if why := tooLarge(size{Files: len(p.Files), Lines: p.Lines()}, known[path]); why != "" {
			t.Errorf("%s: %s", path, why)
		}
		delete(known, path)
	}
	for _, p := range packages(t) {
		if !measured[p.path()] {
			t.Errorf("%s was not measured", p.path())
		}
	}
	if len(known) > 0 {
		t.Errorf("oversized names what does not exist: %v", known)
	}
}

// TestScattered checks that the methods of a type are in few files. Methods of embedded types count wherever they are:
// otherwise a type could be divided without becoming simpler.
func TestScattered(t *testing.T) {
	known := scattered()
	_, all := measure(t)
	for _, key := range all.Types() {
		files := all.MethodsOf(key)
		if why := tooScattered(slices.Sorted(maps.Keys(files)), known[key]); why != "" {
			t.Errorf("%s: %s", key, why)
		}
		delete(known, key)
	}
	if len(known) > 0 {
		t.Errorf("scattered names what does not exist: %v", known)
	}
}

// tooScattered returns what is wrong with the files that have the methods of a type, or an empty string. allowed is its entry
// in scattered, or 0.
func tooScattered(files []string, allowed int) string {
	switch most := max(maxMethodFiles, allowed); {
	case len(files) > most:
		return fmt.Sprintf("it has methods in %d files, and may have them in %d: %s", len(files), most, strings.Join(files, ", "))
	case allowed != 0 && len(files) <= maxMethodFiles:
		return "it is within the limit: take it out of scattered"
	}
	return ""
}

// TestTooLarge checks that packages above the limits are found.
func TestTooLarge(t *testing.T) {
	type args struct{ is, allowed size }
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Small": {reason: "A package within the limits is accepted.", args: args{is: size{Files: 20, Lines: 2500}}},
		"Files": {
			reason: "A package must not have too many files.", args: args{is: size{Files: 21, Lines: 10}},
			want: "it has 21 files and 10 lines, and may have 20 and 2500: split it",
		},
		"Lines": {
			reason: "A package must not have too many lines.", args: args{is: size{Files: 1, Lines: 2501}},
			want: "it has 1 files and 2501 lines, and may have 20 and 2500: split it",
		},
		"Known": {reason: "A package that is listed as too large is accepted.", args: args{is: size{Files: 22, Lines: 3000}, allowed: size{Files: 22, Lines: 3000}}},
		"Grown": {
			reason: "A package that is listed as too large must not grow.", args: args{is: size{Files: 22, Lines: 3001}, allowed: size{Files: 22, Lines: 3000}},
			want: "it has 22 files and 3001 lines, and may have 22 and 3000: split it",
		},
		"Shrunk": {
			reason: "A package that is small again must be removed from the list.", args: args{is: size{Files: 20, Lines: 2500}, allowed: size{Files: 22, Lines: 3000}},
			want: "it is within the limits: take it out of oversized",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tooLarge(tc.args.is, tc.args.allowed)); diff != "" {
				t.Errorf("\n%s\ntooLarge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTooScattered checks that types with methods in too many files are found.
func TestTooScattered(t *testing.T) {
	five := []string{"a", "b", "c", "d", "e"}
	cases := map[string]struct {
		reason  string
		files   []string
		allowed int
		want    string
	}{
		"Few":    {reason: "A type within the limit is accepted.", files: five[:4]},
		"Many":   {reason: "The methods of a type must not be in too many files.", files: five, want: "it has methods in 5 files, and may have them in 4: a, b, c, d, e"},
		"Known":  {reason: "A type that is listed as scattered is accepted.", files: five, allowed: 5},
		"Shrunk": {reason: "A type that is not scattered any more must be removed from the list.", files: five[:4], allowed: 5, want: "it is within the limit: take it out of scattered"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tooScattered(tc.files, tc.allowed)); diff != "" {
				t.Errorf("\n%s\ntooScattered(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
