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
		"Prefix":    {reason: "The beginning of a name is enough.", typed: "modul", want: []string{"kymactl module"}},
		"Swapped":   {reason: "Two letters may be swapped.", typed: "wiat", want: []string{"kymactl wait"}},
		"Wrong":     {reason: "A long name may have two wrong letters.", typed: "undeplxx", want: []string{"kymactl undeploy"}},
		"Short":     {reason: "A name with half of its letters wrong is another one, and list is a command of a group.", typed: "list", want: []string{"kymactl module list"}},
		"Alias":     {reason: "So is its alias.", typed: "ls", want: []string{"kymactl module list"}},
		"OtherTool": {reason: "What other tools call get is status.", typed: "get", want: []string{"kymactl status"}},
		"Above":     {reason: "A command of the root may be looked for in a group.", group: []string{"module"}, typed: "deploy", want: []string{"kymactl deploy"}},
		"Below":     {reason: "A command of a group is corrected in this group.", group: []string{"module"}, typed: "cretae", want: []string{"kymactl module create"}},
		"Nothing":   {reason: "Not every text is like a command.", typed: "nonsense"},
		"Empty":     {reason: "An empty text is like none.", typed: ""},
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
		"Same":     {reason: "Equal names have none.", a: "plan", b: "plan"},
		"Empty":    {reason: "All letters are added.", b: "plan", want: 4},
		"Replaced": {reason: "A wrong letter is one.", a: "plam", b: "plan", want: 1},
		"Missing":  {reason: "So is a missing one.", a: "pan", b: "plan", want: 1},
		"Swapped":  {reason: "Two swapped letters are one.", a: "paln", b: "plan", want: 1},
		"Other":    {reason: "Two wrong letters are two.", a: "list", b: "test", want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, distance(tc.a, tc.b)); diff != "" {
				t.Errorf("\n%s\ndistance(%q, %q): -want, +got:\n%s", tc.reason, tc.a, tc.b, diff)
			}
		})
	}
}
