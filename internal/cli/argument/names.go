// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"regexp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// Patterns of the names that the Kyma CRD accepts.
var (
	modulePattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
	channelPattern = regexp.MustCompile(`^[a-z]{3,32}$`)
)

// IsModuleName reports whether a name is a valid name of a module.
func IsModuleName(name string) bool { return modulePattern.MatchString(name) }

// IsChannelName reports whether a name is a valid name of a channel.
func IsChannelName(name string) bool { return channelPattern.MatchString(name) }

// CheckModules returns a usage error for the first name that is not a valid name of a module.
func CheckModules(names []string) error {
	for _, n := range names {
		if !IsModuleName(n) {
			return command.Usagef("%q is not a valid module name: use at most 63 lower case letters, digits, - and .", n)
		}
	}
	return nil
}

// CheckChannel returns a usage error if the value of --channel is not a valid name of a channel. An empty value is valid.
func CheckChannel(channel string) error {
	if channel != "" && !IsChannelName(channel) {
		return command.Usagef("--channel is %q: use 3 to 32 lower case letters", channel)
	}
	return nil
}

// Once returns names without duplicates, in the order of their first occurrence.
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
