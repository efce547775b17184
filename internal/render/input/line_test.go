// SPDX-License-Identifier: Apache-2.0

package input

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Short":   {reason: "A line stays as it is.", args: "a b", want: "a b"},
		"Lines":   {reason: "Lines and runs of space become one space.", args: " a\n\t b\r\n", want: "a b"},
		"Invalid": {reason: "Invalid UTF-8 is replaced.", args: "a\xff\xfeb", want: "a?b"},
		"Long":    {reason: "A text ends at a bound.", args: strings.Repeat("a", 1025), want: strings.Repeat("a", 1024) + " …"},
		"Rune":    {reason: "A character that the bound cuts is dropped.", args: strings.Repeat("a", 1023) + "é", want: strings.Repeat("a", 1023) + " …"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Line(tc.args)); diff != "" {
				t.Errorf("\n%s\nLine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
