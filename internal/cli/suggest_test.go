// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestLikeCommand(t *testing.T) {
	cases := map[string]struct {
		reason string
		group  []string
		typed  string
		want   []string
	}{
		"Prefix":    {reason: "A prefix of a name matches.", typed: "modul", want: []string{"kymactl module"}},
		"Swapped":   {reason: "Two letters can be swapped.", typed: "wiat", want: []string{"kymactl wait"}},
		"Wrong":     {reason: "A long name can have two wrong letters.", typed: "undeplxx", want: []string{"kymactl undeploy"}},
		"Short":     {reason: "A command of a group is found from the root. A name with half of its letters wrong doesn't match.", typed: "list", want: []string{"kymactl module list"}},
		"Alias":     {reason: "An alias of a command of a group is found.", typed: "ls", want: []string{"kymactl module list"}},
		"OtherTool": {reason: "Names of other tools are known.", typed: "get", want: []string{"kymactl status"}},
		"Above":     {reason: "A command of the root is found from a group.", group: []string{"module"}, typed: "deploy", want: []string{"kymactl deploy"}},
		"Below":     {reason: "A similar name in the group is found.", group: []string{"module"}, typed: "cretae", want: []string{"kymactl module create"}},
		"Nothing":   {reason: "Text that is not similar to any command causes no suggestion.", typed: "nonsense"},
		"Empty":     {reason: "An empty text has no suggestions.", typed: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group, _, err := New(&command.Environment{}).Find(tc.group)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, likeCommand(group, tc.typed)); diff != "" {
				t.Errorf("\n%s\nlikeCommand(%q): -want, +got:\n%s", tc.reason, tc.typed, diff)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   string
		want   int
	}{
		"Same":     {reason: "Equal names have no distance.", a: "plan", b: "plan"},
		"Empty":    {reason: "All letters are inserted.", b: "plan", want: 4},
		"Replaced": {reason: "A wrong letter counts as one.", a: "plam", b: "plan", want: 1},
		"Missing":  {reason: "A missing letter counts as one.", a: "pan", b: "plan", want: 1},
		"Swapped":  {reason: "Two swapped letters count as one.", a: "paln", b: "plan", want: 1},
		"Other":    {reason: "Two wrong letters count as two.", a: "list", b: "test", want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, distance(tc.a, tc.b)); diff != "" {
				t.Errorf("\n%s\ndistance(%q, %q): -want, +got:\n%s", tc.reason, tc.a, tc.b, diff)
			}
		})
	}
}
