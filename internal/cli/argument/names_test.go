// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsModuleName(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		want   bool
	}{
		"Plain":   {"Letters, digits, dashes and dots.", "a-1.b", true},
		"One":     {"One character is enough.", "a", true},
		"Longest": {"At most 63.", strings.Repeat("a", 63), true},
		"Longer":  {"And no more.", strings.Repeat("a", 64), false},
		"Empty":   {"Nothing is no name.", "", false},
		"Upper":   {"Upper case is not allowed.", "A", false},
		"End":     {"It does not end with a dash.", "a-", false},
		"Lines":   {"It is one line.", "a\nb", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsModuleName(tc.name); got != tc.want {
				t.Errorf("\n%s\nIsModule(%q): want %t, got %t", tc.reason, tc.name, tc.want, got)
			}
		})
	}
}

func TestIsChannelName(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		want   bool
	}{
		"Shortest": {"At least 3 letters.", "abc", true},
		"Shorter":  {"And no less.", "ab", false},
		"Longest":  {"At most 32.", strings.Repeat("a", 32), true},
		"Longer":   {"And no more.", strings.Repeat("a", 33), false},
		"Digit":    {"Letters only.", "abc1", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsChannelName(tc.name); got != tc.want {
				t.Errorf("\n%s\nIsChannel(%q): want %t, got %t", tc.reason, tc.name, tc.want, got)
			}
		})
	}
}

func TestOnce(t *testing.T) {
	if diff := cmp.Diff([]string{"b", "a"}, Once([]string{"b", "a", "b"})); diff != "" {
		t.Errorf("Once(...): -want, +got:\n%s", diff)
	}
}
