// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// unknown is what is not known of a build.
const unknown = "unknown"

// Build says what this program was built from.
type Build struct {
	// Version is what git describes the source as.
	Version string
	// Commit of the source: as the linker set it, or of 12 digits, with "-dirty" if there were changes beside it; "unknown"
	// for a build outside of a repository.
	Commit string
	// Go is the version of the compiler.
	Go string
}

// Get what this program was built from.
func Get() Build {
	commit := Commit
	if commit == "" {
		info, _ := debug.ReadBuildInfo()
		commit = commitOf(info)
	}
	return Build{Version: Version, Commit: commit, Go: runtime.Version()}
}

// String is one line, as --version shows it.
func (b Build) String() string {
	return fmt.Sprintf("provider-kyma %s (commit %s, %s, %s/%s)", b.Version, b.Commit, b.Go, runtime.GOOS, runtime.GOARCH)
}

// Installed is Version or, where the linker set none, the version that go install was asked for.
func Installed() string {
	info, _ := debug.ReadBuildInfo()
	return installed(Version, info)
}

func installed(linked string, info *debug.BuildInfo) string {
	if linked != unset || info == nil || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return linked
	}
	return info.Main.Version
}

func commitOf(info *debug.BuildInfo) string {
	if info == nil {
		return unknown
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if commit == "" {
		return unknown
	}
	return commit + dirty
}
