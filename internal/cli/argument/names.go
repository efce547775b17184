// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"regexp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// The patterns of names that the CRD of Kymas accepts.
var (
	modulePattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
	channelPattern = regexp.MustCompile(`^[a-z]{3,32}$`)
)

// IsModuleName reports whether a module may have this name.
func IsModuleName(name string) bool { return modulePattern.MatchString(name) }

// IsChannelName reports whether a channel may have this name.
func IsChannelName(name string) bool { return channelPattern.MatchString(name) }

// CheckModules returns an error that names the first name that no module can have.
func CheckModules(names []string) error {
	for _, n := range names {
		if !IsModuleName(n) {
			return command.Usagef("%q is no name of a module: want at most 63 lower case letters, digits, - and .", n)
		}
	}
	return nil
}

// CheckChannel returns an error if no channel can have the name that --channel gives. The name may be empty.
func CheckChannel(channel string) error {
	if channel != "" && !IsChannelName(channel) {
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
