// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestArgs checks the errors about wrong numbers of arguments.
func TestArgs(t *testing.T) {
	cases := map[string]struct {
		reason      string
		use         string
		least, most int
		args        []string
		want        string
	}{
		"Exact":   {reason: "The number of arguments is correct.", use: "inspect MODULE", least: 1, most: 1, args: []string{"a"}},
		"None":    {reason: "An argument is missing.", use: "inspect MODULE", least: 1, most: 1, want: "expected 1 argument (MODULE), got none"},
		"TooFew":  {reason: "One of two arguments is missing.", use: "copy SRC DST", least: 2, most: 2, args: []string{"a"}, want: "expected 2 arguments (SRC DST), got 1"},
		"TooMany": {reason: "An optional argument is given twice.", use: "create [DIR]", most: 1, args: []string{"a", "b"}, want: "expected at most 1 argument ([DIR]), got 2"},
		"NoArgs":  {reason: "The command has no arguments.", use: "list", args: []string{"a"}, want: "expected no arguments, got 1"},
		"Any":     {reason: "The number of arguments is not limited.", use: "enable NAME...", least: 1, most: NoMaximum, args: []string{"a", "b", "c"}},
		"Least":   {reason: "There is only a minimum.", use: "enable NAME...", least: 1, most: NoMaximum, want: "expected at least 1 argument (NAME...), got none"},
		"Range":   {reason: "The number of arguments has a minimum and a maximum.", use: "x A [B]", least: 1, most: 2, want: "expected 1 to 2 arguments (A [B]), got none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Args(tc.least, tc.most)(&cobra.Command{Use: tc.use}, tc.args); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("\n%s\nArgs(%d, %d): want %q, got %q", tc.reason, tc.least, tc.most, tc.want, got)
			}
		})
	}
}
