// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestArrange(t *testing.T) {
	root := New(&command.Environment{})
	each(root, func(c *cobra.Command) {
		if c.HasParent() && c.GroupID == "" {
			t.Errorf("%s is in no area: add it to areas", c.CommandPath())
		}
	})
}

func TestWrapped(t *testing.T) {
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
			if diff := cmp.Diff(tc.want, wrapped(tc.text)); diff != "" {
				t.Errorf("\n%s\nwrapped(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
