// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	const width = 100
	long := strings.Repeat("ä", width-1)
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Empty":      {reason: "Nothing stays nothing."},
		"Lines":      {reason: "Lines of a paragraph are joined.", text: "a\nb  c", want: "a b c"},
		"Paragraphs": {reason: "Paragraphs stay apart.", text: "a\n\nb", want: "a\n\nb"},
		"Width":      {reason: "A line ends before the word that does not fit; characters are counted.", text: long + " b", want: long + "\nb"},
		"Fits":       {reason: "What just fits stays.", text: long[2:] + " b", want: long[2:] + " b"},
		"Word":       {reason: "A word is never broken.", text: "a " + long + long, want: "a\n" + long + long},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Wrap(tc.text, width)); diff != "" {
				t.Errorf("\n%s\nWrap(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
