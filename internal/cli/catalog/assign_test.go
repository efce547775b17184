// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestAssignChannels(t *testing.T) {
	one := Release{Name: "a", Version: "1.0.0", Template: "a-1.0.0", Ready: "True"}
	two := Release{Name: "a", Version: "2.0.0", Template: "a-2.0.0", Ready: "True"}
	in := func(r Release, channel, releaseMeta string) Release {
		r.Channel, r.ReleaseMeta = channel, releaseMeta
		return r
	}
	released := func(channel, version string) v1alpha1.ChannelRelease {
		return v1alpha1.ChannelRelease{Channel: channel, Release: v1alpha1.Release{Version: version}}
	}
	phased := in(two, "fast", "m")
	phased.Phase = "Complete"
	cases := map[string]struct {
		reason   string
		offered  Releases
		channels []v1alpha1.ChannelRelease
		rollouts []v1alpha1.ChannelRollout
		want     Releases
	}{
		"Channels": {
			reason: "A version has a row for each of its channels, with the phase of its rollout there.", offered: Releases{one, two},
			channels: []v1alpha1.ChannelRelease{released("fast", "2.0.0"), released("regular", "2.0.0")},
			rollouts: []v1alpha1.ChannelRollout{{Channel: "fast", Version: "2.0.0", Phase: v1alpha1.RolloutComplete}},
			want:     Releases{one, phased, in(two, "regular", "m")},
		},
		"Missing": {
			reason: "A version that no ModuleTemplate provides is not ready.", channels: []v1alpha1.ChannelRelease{released("fast", "2.0.0")},
			want: Releases{{Name: "a", Version: "2.0.0", Channel: "fast", ReleaseMeta: "m", Ready: "False", Message: "no ModuleTemplate provides version 2.0.0"}},
		},
		"Agrees": {
			reason: "A ModuleTemplate with the same channel and version is not listed twice.", offered: Releases{in(one, "fast", "")},
			channels: []v1alpha1.ChannelRelease{released("fast", "1.0.0")}, want: Releases{in(one, "fast", "m")},
		},
		"Contradicts": {
			reason: "Both versions of a channel are listed if a ModuleTemplate contradicts.", offered: Releases{in(one, "fast", ""), two},
			channels: []v1alpha1.ChannelRelease{released("fast", "2.0.0")}, want: Releases{in(one, "fast", ""), in(two, "fast", "m")},
		},
		"Borrowed": {
			reason: "A ModuleTemplate with another channel can provide the version, and keeps its own.", offered: Releases{in(one, "fast", "")},
			channels: []v1alpha1.ChannelRelease{released("regular", "1.0.0")}, want: Releases{in(one, "fast", ""), in(one, "regular", "m")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := v1alpha1.ModuleReleaseMeta{}
			m.Name, m.Spec.ModuleName, m.Spec.Channels, m.Status.Channels = "m", "a", tc.channels, tc.rollouts
			if diff := cmp.Diff(tc.want, assign(tc.offered, []v1alpha1.ModuleReleaseMeta{m})); diff != "" {
				t.Errorf("\n%s\nassign(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
