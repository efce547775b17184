// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/version"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestPinned checks that the repository names a toolchain, and that it is not older than the Go version that users need.
func TestPinned(t *testing.T) {
	root := filepath.Join("..", "..")
	got, err := pinned(root)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if needed := "go" + file.Go.Version; !version.IsValid(got) || version.Compare(got, needed) < 0 {
		t.Errorf("pinned(...): want at least %s, got %q", needed, got)
	}
	if _, err := pinned(t.TempDir()); err == nil {
		t.Error("pinned(...) without a go.mod: want an error")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.26.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pinned(dir); err == nil || !strings.Contains(err.Error(), "toolchain") {
		t.Errorf("pinned(...) without a toolchain: %v", err)
	}
}

func TestDeviation(t *testing.T) {
	cases := map[string]struct {
		reason       string
		used, pinned string
		want         string
	}{
		"Same":  {reason: "There is nothing to say.", used: "go1.26.8", pinned: "go1.26.8"},
		"Older": {reason: "Users learn how to build the same release.", used: "go1.26.7", pinned: "go1.26.8", want: "set GOTOOLCHAIN=go1.26.8"},
		"Newer": {reason: "A newer version builds other binaries, too.", used: "go1.26.9", pinned: "go1.26.8", want: "built with go1.26.9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := deviation(tc.used, tc.pinned); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("\n%s\ndeviation(%q, %q): want %q, got %q", tc.reason, tc.used, tc.pinned, tc.want, got)
			}
		})
	}
}
