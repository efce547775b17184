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
		"Plain":   {"A name has letters, digits, dashes and dots.", "a-1.b", true},
		"One":     {"One character is enough.", "a", true},
		"Longest": {"At most 63 characters are allowed.", strings.Repeat("a", 63), true},
		"Longer":  {"More than 63 characters are not allowed.", strings.Repeat("a", 64), false},
		"Empty":   {"A name must not be empty.", "", false},
		"Upper":   {"Upper case is not allowed.", "A", false},
		"End":     {"A name must not end with a dash.", "a-", false},
		"Lines":   {"A name must not contain line breaks.", "a\nb", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsModuleName(tc.name); got != tc.want {
				t.Errorf("\n%s\nIsModule(%q): want %t, got %t", tc.reason, tc.name, tc.want, got)
			}
		})
	}
}

func TestOnce(t *testing.T) {
	if diff := cmp.Diff([]string{"b", "a"}, Once([]string{"b", "a", "b"})); diff != "" {
		t.Errorf("Once(...): -want, +got:\n%s", diff)
	}
}
