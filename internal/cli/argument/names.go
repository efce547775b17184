// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"regexp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// As the CRD of Kymas has the names of modules and channels.
var (
	modulePattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
	channelPattern = regexp.MustCompile(`^[a-z]{3,32}$`)
)

// IsModule reports whether a module may have this name.
func IsModule(name string) bool { return modulePattern.MatchString(name) }

// IsChannel reports whether a channel may have this name.
func IsChannel(name string) bool { return channelPattern.MatchString(name) }

// CheckModules refuses what no module can be called.
func CheckModules(names []string) error {
	for _, n := range names {
		if !IsModule(n) {
			return command.Usagef("%q is no name of a module: want at most 63 lower case letters, digits, - and .", n)
		}
	}
	return nil
}

// CheckChannel refuses a --channel that no channel can be called. It may be empty.
func CheckChannel(channel string) error {
	if channel != "" && !IsChannel(channel) {
		return command.Usagef("--channel is %q: want 3 to 32 lower case letters", channel)
	}
	return nil
}

// Once returns names in their order, each of them once.
func Once(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
