// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"strings"
	"testing"
)

// TestIsChannel also covers labels, whose values must not end with a dash.
func TestIsChannel(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		want   bool
	}{
		"Shortest": {"At least 3 characters are required.", "abc", true},
		"Shorter":  {"Fewer than 3 characters are not allowed.", "ab", false},
		"Longest":  {"At most 32 characters are allowed.", strings.Repeat("a", 32), true},
		"Longer":   {"More than 32 characters are not allowed.", strings.Repeat("a", 33), false},
		"Digit":    {"Digits and dashes are allowed.", "lts-1", true},
		"First":    {"A channel begins with a letter.", "1lts", false},
		"Last":     {"A channel does not end with a dash.", "lts-", false},
		"Upper":    {"Upper case is not allowed.", "Fast", false},
		"Lines":    {"A channel must not contain line breaks.", "fast\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsChannel(tc.name); got != tc.want {
				t.Errorf("\n%s\nIsChannel(%q): want %t, got %t", tc.reason, tc.name, tc.want, got)
			}
		})
	}
}
