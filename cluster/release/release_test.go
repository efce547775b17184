// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		// want are the platforms of the image, and url the base URL.
		want []image.Platform
		url  string
		err  string
	}{
		"Defaults": {
			reason: "Images exist for linux, and files are downloaded from the release on GitHub.",
			args:   []string{"-version", "v0.1.0"},
			want:   []image.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}},
			url:    "https://github.com/crossplane-contrib/provider-kyma/releases/download/v0.1.0",
		},
		"Own": {
			reason: "Both can be set.",
			args:   []string{"-version", "v0.1.0-rc.1", "-platforms", "darwin/arm64,linux/arm64", "-base-url", "https://example.org/x"},
			want:   []image.Platform{{OS: "linux", Arch: "arm64"}},
			url:    "https://example.org/x",
		},
		"NoVersion":    {reason: "A version is required.", err: "invalid version"},
		"ShortVersion": {reason: "Crossplane only accepts complete versions.", args: []string{"-version", "v0.1"}, err: "invalid version"},
		"NoLinux":      {reason: "The provider only runs on Linux.", args: []string{"-version", "v0.1.0", "-platforms", "darwin/arm64"}, err: "linux/amd64"},
		"Flag":         {reason: "A misspelt flag is named.", args: []string{"-versions", "v0.1.0"}, err: "versions"},
		"Argument":     {reason: "An argument that would be ignored is refused.", args: []string{"-version", "v0.1.0", "all"}, err: `"all"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tc.args)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nparse(%q): want an error with %q, got %v", tc.reason, tc.args, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.linux()); diff != "" || got.baseURL != tc.url {
				t.Errorf("\n%s\nparse(%q): URL %q, platforms: -want, +got:\n%s", tc.reason, tc.args, got.baseURL, diff)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "release")
	if err := prepare(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := prepare(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("prepare(...) of a directory with a file: %v", err)
	}
}

func TestHead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--allow-empty", "--message=a", "--date=@1000000000"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=@1000000000 +0100")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	got, err := head(t.Context(), dir)
	if err != nil || got.time.Unix() != 1_000_000_000 || len(got.id) != 40 || len(got.short()) != 12 || got.modified {
		t.Errorf("head(...) of a new repository: %+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = head(t.Context(), dir); err != nil || !got.modified {
		t.Errorf("head(...) with a new file: %+v, %v", got, err)
	}
	if _, err := head(t.Context(), t.TempDir()); err == nil {
		t.Error("head(...) outside of a repository: want an error")
	}
}
