// SPDX-License-Identifier: Apache-2.0

package manual

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func command() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	group := &cobra.Command{Use: "group", Short: "A group"}
	group.AddCommand(&cobra.Command{Use: "leaf", Short: "A leaf", Run: run}, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	root.AddCommand(group)
	return root
}

func TestManual(t *testing.T) {
	date := time.Unix(1_000_000_000, 0)
	cases := map[string]struct {
		reason   string
		generate func() (map[string][]byte, error)
		want     []string
		// in is the file that contains text.
		in, text string
	}{
		"Completions": {
			reason:   "There is a completion for each shell.",
			generate: func() (map[string][]byte, error) { return Completions(command()) },
			want:     []string{"completions/_tool", "completions/tool.bash", "completions/tool.fish", "completions/tool.ps1"},
			in:       "completions/_tool", text: "#compdef tool",
		},
		"Pages": {
			reason:   "There is a page for each command that the help lists, with the date of the source.",
			generate: func() (map[string][]byte, error) { return Pages(command(), "v1.2.3", date) },
			want:     []string{"man/man1/tool-group-leaf.1", "man/man1/tool-group.1", "man/man1/tool.1"},
			in:       "man/man1/tool-group-leaf.1", text: `"Sep 2001" "tool v1.2.3" "User Commands"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.generate()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if !bytes.Contains(got[tc.in], []byte(tc.text)) {
				t.Errorf("\n%s\n%s does not contain %q:\n%s", tc.reason, tc.in, tc.text, got[tc.in])
			}
			again, err := tc.generate()
			if diff := cmp.Diff(got, again); diff != "" || err != nil {
				t.Errorf("\n%s\nthe second time: %v, -first, +second:\n%s", tc.reason, err, diff)
			}
		})
	}
}
