// SPDX-License-Identifier: Apache-2.0

package object

import "testing"

func TestAdoptionFrom(t *testing.T) {
	cases := map[string]struct {
		reason string
		a      Adoption
		owner  string
		want   bool
	}{
		"None":          {reason: "By default, nothing is adopted.", a: AdoptNone},
		"NoneOwned":     {reason: "By default, what belongs to another bundle is not adopted.", a: AdoptNone, owner: "other"},
		"Unowned":       {reason: "A module can adopt what has no owner.", a: AdoptUnowned, want: true},
		"UnownedOwned":  {reason: "A module cannot adopt from another module.", a: AdoptUnowned, owner: "other"},
		"All":           {reason: "The bundle adopts what has no owner.", a: AdoptAll, want: true},
		"AllFromOthers": {reason: "The bundle adopts what other bundles own.", a: AdoptAll, owner: "other", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.From(tc.owner); got != tc.want {
				t.Errorf("\n%s\nFrom(%q): want %t, got %t", tc.reason, tc.owner, tc.want, got)
			}
		})
	}
}
