// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestCommitOf(t *testing.T) {
	const revision = "12decfc0123456789abcdef0123456789abcdef0"
	cases := map[string]struct {
		reason string
		info   *debug.BuildInfo
		want   string
	}{
		"NoInfo":  {reason: "The commit is unknown if the binary has no build information.", want: "unknown"},
		"NoVCS":   {reason: "The commit is unknown for a build outside of a repository.", info: &debug.BuildInfo{}, want: "unknown"},
		"Clean":   {reason: "A commit is shortened.", info: settings("vcs.revision", revision, "vcs.modified", "false"), want: "12decfc01234"},
		"Changed": {reason: "A commit with uncommitted changes is marked as dirty.", info: settings("vcs.modified", "true", "vcs.revision", revision), want: "12decfc01234-dirty"},
		"Short":   {reason: "Other systems have shorter names.", info: settings("vcs.revision", "77"), want: "77"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := commitOf(tc.info); got != tc.want {
				t.Errorf("\n%s\ncommitOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestString(t *testing.T) {
	got := Get().String()
	if !strings.HasPrefix(got, "provider-kyma "+Version+" (commit ") || strings.Contains(got, "\n") {
		t.Errorf("String(): got %q", got)
	}
}

func settings(pairs ...string) *debug.BuildInfo {
	info := &debug.BuildInfo{}
	for i := 0; i < len(pairs); i += 2 {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
	}
	return info
}

func TestInstalled(t *testing.T) {
	built := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	cases := map[string]struct {
		reason string
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		"Linked":    {"What the linker was told comes first.", "v1.2.3", built("v1.0.0"), "v1.2.3"},
		"Installed": {"The go command knows what it was asked for.", unset, built("v1.0.0"), "v1.0.0"},
		"Local":     {"A directory has no version.", unset, built("(devel)"), unset},
		"Unknown":   {"Nothing is known.", unset, nil, unset},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := installed(tc.linked, tc.info); got != tc.want {
				t.Errorf("\n%s\ninstalled(%q, ...): want %q, got %q", tc.reason, tc.linked, tc.want, got)
			}
		})
	}
}
