// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// TestPatience checks that the time in which a Kyma is not Ready begins again only when it was Ready, or did not count.
func TestPatience(t *testing.T) {
	start := time.Unix(1000, 0)
	status := &v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutProgressing, Threshold: rollout.All}
	in := target{channel: "regular", release: v1alpha1.Release{Version: "2.0.0"}}
	p := &patience{}
	for i, tc := range []struct {
		reason string
		member rollout.Member
		want   time.Duration
		passed bool
		since  time.Duration
	}{
		{reason: "It is seen for the first time.", member: rollout.Member{Updated: true}, want: 0},
		{reason: "Another message changes nothing.", member: rollout.Member{Updated: true, Error: true, Since: start.Add(time.Minute)}, want: 0},
		{reason: "It is Ready.", member: rollout.Member{Updated: true, Ready: true}, want: -1, passed: true},
		{reason: "It is not Ready again.", member: rollout.Member{Updated: true}, want: 3 * time.Minute, passed: true},
		{reason: "It was Ready before that.", member: rollout.Member{Updated: true}, want: 3 * time.Minute, passed: true},
		{reason: "Its cluster cannot be reached.", member: rollout.Member{Updated: true, Offline: true}, want: -1},
		{reason: "It can be reached again, and has the state of that time.", member: rollout.Member{Updated: true, Error: true}, want: 6 * time.Minute, since: 5 * time.Minute},
		{reason: "It is Ready in the version before.", member: rollout.Member{Ready: true}, want: 6 * time.Minute, since: 5 * time.Minute},
		{reason: "It waits for a window.", member: rollout.Member{Ready: true, Waiting: true}, want: -1},
		{reason: "The window has begun.", member: rollout.Member{}, want: 9 * time.Minute, since: 8 * time.Minute},
	} {
		since := tc.member.Since
		if tc.since > 0 {
			since = start.Add(tc.since)
		}
		members := []rollout.Member{tc.member}
		p.watch("istio", status, in, members, start.Add(time.Duration(i)*time.Minute))
		if got := members[0].Unready; tc.want < 0 && !got.IsZero() || tc.want >= 0 && !got.Equal(start.Add(tc.want)) {
			t.Errorf("%s want %s after the start, got %s", tc.reason, tc.want, got)
		}
		if got := members[0].Since; !got.Equal(since) {
			t.Errorf("%s want the state since %s, got %s", tc.reason, since, got)
		}
		if got := members[0].Passed; got != tc.passed {
			t.Errorf("%s want passed %t, got %t", tc.reason, tc.passed, got)
		}
	}
	if p.forget("istio"); len(p.since) != 0 {
		t.Errorf("want nothing about a ModuleReleaseMeta that is gone, got %v", p.since)
	}
}

// TestPatienceForgets checks that nothing remains of a Kyma that is not in a pass, and that others stay.
func TestPatienceForgets(t *testing.T) {
	start := time.Unix(1000, 0)
	active := &v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutProgressing, Threshold: rollout.All}
	paused := &v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutPaused, Threshold: rollout.All}
	in := target{channel: "regular", release: v1alpha1.Release{Version: "2.0.0"}}
	p := &patience{}
	for i, tc := range []struct {
		reason string
		status *v1alpha1.ChannelRollout
		names  []string
		want   []time.Duration
		known  int
	}{
		{reason: "Both are seen.", status: active, names: []string{"a", "b"}, want: []time.Duration{0, 0}, known: 2},
		{reason: "One is gone.", status: active, names: []string{"a"}, want: []time.Duration{0}, known: 1},
		{reason: "It is back.", status: active, names: []string{"a", "b"}, want: []time.Duration{0, 2 * time.Minute}, known: 2},
		{reason: "The rollout is paused.", status: paused, names: []string{"a", "b"}, want: []time.Duration{-1, -1}},
		{reason: "It is resumed.", status: active, names: []string{"a", "b"}, want: []time.Duration{4 * time.Minute, 4 * time.Minute}, known: 2},
	} {
		var members []rollout.Member
		for _, name := range tc.names {
			members = append(members, rollout.Member{Name: name, Updated: true})
		}
		p.watch("istio", tc.status, in, members, start.Add(time.Duration(i)*time.Minute))
		for n, want := range tc.want {
			if got := members[n].Unready; want < 0 && !got.IsZero() || want >= 0 && !got.Equal(start.Add(want)) {
				t.Errorf("%s %s: want %s after the start, got %s", tc.reason, members[n].Name, want, got)
			}
		}
		if got := len(p.strugglesOf("istio", "regular").kymas); got != tc.known {
			t.Errorf("%s want %d Kymas, got %d", tc.reason, tc.known, got)
		}
	}
}

// TestOwnersCannotStop checks that what the owner of a Kyma requests for a module neither blocks nor fails the rollout for all others.
func TestOwnersCannotStop(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(k *v1alpha1.Kyma)
		want   rollout.Member
		held   bool
	}{
		"Plan": {
			reason: "A plan reports the version that it would install.",
			change: func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModePlan },
			want:   rollout.Member{Installed: true}, held: true,
		},
		"PlanOfModule": {
			reason: "A single module can be planned.",
			change: func(k *v1alpha1.Kyma) {
				k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "istio", Mode: v1alpha1.ModePlan}}
			},
			want: rollout.Member{Installed: true}, held: true,
		},
		"Observed": {
			reason: "Without the policy Update, the module stays as it is.",
			change: func(k *v1alpha1.Kyma) {
				k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			},
			want: rollout.Member{Installed: true, Updated: true}, held: true,
		},
		"NotSupported": {
			reason: "A combination of policies that is not supported stops all changes.",
			change: func(k *v1alpha1.Kyma) {
				k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
			},
			want: rollout.Member{Installed: true, Updated: true}, held: true,
		},
		"Ignored": {
			reason: "A mandatory module is in state Warning because the Kyma requests what has no effect.",
			change: func(k *v1alpha1.Kyma) {
				s := &k.Status.AtProvider.Modules[0]
				s.State, s.Message = v1alpha1.StateWarning, catalogue.IgnoredMessage
			},
			want: rollout.Member{Installed: true, Updated: true, Ready: true},
		},
		"Warning": {
			reason: "A warning of the module itself counts.",
			change: func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[0].State = v1alpha1.StateWarning },
			want:   rollout.Member{Installed: true, Updated: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := &v1alpha1.Kyma{}
			k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{
				Name: "istio", Channel: v1alpha1.MandatoryChannel, Version: "2.0.0", State: v1alpha1.StateProcessing, Origin: v1alpha1.ModuleOriginMandatory,
			}}
			tc.change(k)
			got := newAssessor(newRelease("2.0.0"), target{channel: v1alpha1.MandatoryChannel, release: v1alpha1.Release{Version: "2.0.0"}}).memberOf(k)
			if got.Installed != tc.want.Installed || got.Updated != tc.want.Updated || got.Ready != tc.want.Ready || isHeld(k, "istio") != tc.held {
				t.Errorf("%s want %+v, held %t, got %+v", tc.reason, tc.want, tc.held, got)
			}
		})
	}
}

// TestIsHeldAllocates checks that a Kyma with the default policies costs little: a rollout considers those of the whole fleet every few seconds.
func TestIsHeldAllocates(t *testing.T) {
	k := &v1alpha1.Kyma{}
	k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	if isHeld(k, "istio") {
		t.Error("want that the default policies don't hold a Kyma")
	}
	if n := testing.AllocsPerRun(100, func() { isHeld(k, "istio") }); n > 0 {
		t.Errorf("want no allocation, got %v", n)
	}
}
