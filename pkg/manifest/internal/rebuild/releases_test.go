// SPDX-License-Identifier: Apache-2.0

package rebuild

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestPartsOf(t *testing.T) {
	release := func(namespace, name string) inventory.Release {
		return inventory.Release{Namespace: namespace, Name: name}
	}
	type args struct {
		found    map[inventory.Release]int
		installs []Install
	}
	web := Install{Part: "web", Release: release("apps", "web")}
	cases := map[string]struct {
		reason string
		args   args
		want   map[object.PartID]inventory.Part
	}{
		"None": {reason: "There are no releases.", args: args{installs: []Install{web}}, want: map[object.PartID]inventory.Part{}},
		"Same": {
			reason: "The install continues its release. The next step reads the revision from its records.",
			args:   args{found: map[inventory.Release]int{release("apps", "web"): 2}, installs: []Install{web}},
			want:   map[object.PartID]inventory.Part{"web": {Namespace: "apps"}},
		},
		"Named": {
			reason: "The config names the release.",
			args: args{
				found:    map[inventory.Release]int{release("apps", "shop"): 2},
				installs: []Install{{Part: "web", Release: release("apps", "shop")}},
			},
			want: map[object.PartID]inventory.Part{"web": {Namespace: "apps", Release: "shop"}},
		},
		"Moved": {
			reason: "The install moves from another namespace.",
			args:   args{found: map[inventory.Release]int{release("other", "web"): 2}, installs: []Install{web}},
			want:   map[object.PartID]inventory.Part{"web": {Namespace: "other"}},
		},
		"Moves": {
			reason: "The move had begun when the inventory was lost.",
			args:   args{found: map[inventory.Release]int{release("a", "web"): 2, release("apps", "web"): 1}, installs: []Install{web}},
			want:   map[object.PartID]inventory.Part{"web": {Namespace: "apps", Former: "a"}},
		},
		"MovesOften": {
			reason: "The records of other moves go too, but no deletion hooks run.",
			args: args{
				found:    map[inventory.Release]int{release("a", "web"): 2, release("apps", "web"): 1, release("b", "web"): 3},
				installs: []Install{web},
			},
			want: map[object.PartID]inventory.Part{"web": {Namespace: "apps", Former: "a"}, "b/web": {Namespace: "b", Release: "web", Revision: 3}},
		},
		"Plain": {
			reason: "The install had a release before it became plain objects.",
			args:   args{found: map[inventory.Release]int{release("apps", "web"): 2}, installs: []Install{{Part: "web"}}},
			want:   map[object.PartID]inventory.Part{"web": {Namespace: "apps"}},
		},
		"Removed": {
			reason: "No install has the release: its deletion hooks run.",
			args: args{
				found:    map[inventory.Release]int{release("apps", "web"): 2, release("apps", "extra"): 3},
				installs: []Install{web, {Part: "raw"}},
			},
			want: map[object.PartID]inventory.Part{"web": {Namespace: "apps"}, "extra": {Namespace: "apps", Revision: 3, DeleteHooks: true}},
		},
		"Renamed": {
			reason: "The release may be the former one of the install, which the config names now: no deletion hooks run.",
			args: args{
				found:    map[inventory.Release]int{release("apps", "shop"): 2},
				installs: []Install{{Part: "web", Release: release("apps", "store")}},
			},
			want: map[object.PartID]inventory.Part{"shop": {Namespace: "apps", Revision: 2}},
		},
		"Swapped": {
			reason: "A release that an install has now isn't the former one of another install.",
			args: args{
				found:    map[inventory.Release]int{release("apps", "web"): 2, release("apps", "extra"): 3},
				installs: []Install{{Part: "web", Release: release("apps", "extra")}, {Part: "extra", Release: release("apps", "web")}},
			},
			want: map[object.PartID]inventory.Part{"web": {Namespace: "apps", Release: "extra"}, "extra": {Namespace: "apps", Release: "web"}},
		},
		"Removal": {
			reason: "The whole bundle is being removed: all deletion hooks run.",
			args:   args{found: map[inventory.Release]int{release("a", "web"): 2, release("b", "web"): 3}},
			want: map[object.PartID]inventory.Part{
				"web": {Namespace: "a", Revision: 2, DeleteHooks: true}, "b/web": {Namespace: "b", Release: "web", Revision: 3, DeleteHooks: true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, partsOf(tc.args.found, tc.args.installs)); diff != "" {
				t.Errorf("\n%s\npartsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
