// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"regexp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// modulePattern is the pattern of module names in the Kyma CRD.
var modulePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)

// IsModuleName reports whether name is a valid module name.
func IsModuleName(name string) bool { return modulePattern.MatchString(name) }

// CheckModules returns a usage error for the first name that is not a valid module name.
func CheckModules(names []string) error {
	for _, n := range names {
		if !IsModuleName(n) {
			return command.Usagef("%q is not a valid module name: use at most 63 lowercase letters, digits, '-' or '.'", n)
		}
	}
	return nil
}

// CheckChannel returns a usage error if the value of --channel is not a valid channel name. An empty value is valid.
func CheckChannel(channel string) error {
	if channel != "" && !definition.IsChannel(channel) {
		return command.Usagef("--channel is %q: use "+definition.ChannelForm, channel)
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
