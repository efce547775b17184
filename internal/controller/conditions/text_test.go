// SPDX-License-Identifier: Apache-2.0

package conditions

import "testing"

func TestText(t *testing.T) {
	cases := map[string]struct{ reason, got, want string }{
		"One":   {"A count of one has the singular.", Count(1, "test"), "1 test"},
		"Two":   {"Other counts have the plural.", Count(2, "test"), "2 tests"},
		"Few":   {"Few lines are sorted.", List([]string{"b", "a"}), "a; b"},
		"Many":  {"A message names only the first lines.", List([]string{"g", "f", "e", "d", "c", "b", "a"}), "a; b; c; d; e; and 2 more"},
		"Order": {"Lines can be joined in their order.", JoinFirst([]string{"b", "a"}), "b; a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, tc.got)
			}
		})
	}
}
