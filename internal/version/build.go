// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// unknown is the commit of a build without information about it.
const unknown = "unknown"

// A Build describes the sources and the compiler of this program.
type Build struct {
	// Version is the output of git describe for the source.
	Version string
	// Commit is the commit of the source as the linker set it. Otherwise, it has 12 digits, with "-dirty" if there were
	// uncommitted changes, or it is "unknown" for a build outside of a repository.
	Commit string
	// Go is the version of the compiler.
	Go string
}

// Get returns the build information of this program.
func Get() Build {
	commit := Commit
	if commit == "" {
		info, _ := debug.ReadBuildInfo()
		commit = commitOf(info)
	}
	return Build{Version: Version, Commit: commit, Go: runtime.Version()}
}

// String returns one line, as --version prints it.
func (b Build) String() string {
	return fmt.Sprintf("provider-kyma %s (commit %s, %s, %s/%s)", b.Version, b.Commit, b.Go, runtime.GOOS, runtime.GOARCH)
}

// Installed returns Version or, if the linker did not set it, the version that go install installed.
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
