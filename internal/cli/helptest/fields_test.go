// SPDX-License-Identifier: Apache-2.0

package helptest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblems checks that fields that are missing in the help or in the output are found.
func TestProblems(t *testing.T) {
	type inner struct {
		Kind string `json:"kind"`
	}
	type item struct {
		inner

		Name    string `json:"name,omitempty"`
		Omitted int    `json:"omittedFields"`
		Ignored string `json:"-"`
	}
	cases := map[string]struct {
		reason string
		long   string
		want   []string
	}{
		"Complete": {
			reason: "The help names all fields, one with a remark.",
			long:   "Lists items.\n\nWith --output json or yaml, the command prints the fields kind, name (of the item) and omittedFields.",
		},
		"Incomplete": {
			reason: "Words outside the description of the output do not count.",
			long:   "Lists omittedFields.\n\nWith --output json\nor yaml, each item has the fields kind and name.",
			want:   []string{"the help does not name the field omittedFields"},
		},
		"Outdated": {
			reason: "A field no longer exists.",
			long:   "With --output json or yaml, each item has the fields kind, name, object and omittedFields.",
			want:   []string{"the help names the field object, which does not exist"},
		},
		"Missing": {
			reason: "The help must describe the output.", long: "Lists items.", want: []string{"the help does not describe the output"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, problems(tc.long, item{})); diff != "" {
				t.Errorf("\n%s\nproblems(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
