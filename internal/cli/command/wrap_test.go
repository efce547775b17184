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
		"Empty":      {reason: "An empty text stays empty."},
		"Lines":      {reason: "Lines of a paragraph are joined.", text: "a\nb  c", want: "a b c"},
		"Paragraphs": {reason: "Paragraphs stay separate.", text: "a\n\nb", want: "a\n\nb"},
		"Width":      {reason: "A line ends before a word that does not fit. Characters are counted, not bytes.", text: long + " b", want: long + "\nb"},
		"Fits":       {reason: "A word that just fits stays on the line.", text: long[2:] + " b", want: long[2:] + " b"},
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
