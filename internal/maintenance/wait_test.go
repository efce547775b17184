// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestWaitAt(t *testing.T) {
	const now = "2026-11-27T12:00:00Z"
	nightly := []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "Europe/Berlin", "2h")}
	atNoon := []v1alpha1.MaintenanceWindow{windowOf("0 12 * * *", "", "1h")}
	until := func(s string) Deferral { return Deferral{Until: timeOf(s)} }
	limited := func(d Deferral, most time.Duration, started string) Deferral {
		d.Limited, d.Most = true, most
		if started != "" {
			d.Started = timeOf(started)
		}
		return d
	}
	cases := map[string]struct {
		reason   string
		windows  []v1alpha1.MaintenanceWindow
		deferral Deferral
		want     string
	}{
		"Neither":       {"Without windows and deferral, an upgrade begins at once.", nil, Deferral{}, ""},
		"Open":          {"An open window lets an upgrade begin.", atNoon, Deferral{}, ""},
		"Closed":        {"The message has the time of the window, in its time zone.", nightly, Deferral{}, "upgrade to 1.1.0 waits for the maintenance window at 2026-11-28 02:00 Europe/Berlin"},
		"Deferred":      {"A deferral applies without windows.", nil, until("2026-12-01T00:00:00Z"), "upgrade to 1.1.0 is deferred until 2026-12-01T00:00:00Z"},
		"DeferredOpen":  {"A deferral comes before an open window.", atNoon, until("2026-12-01T12:30:00Z"), "upgrade to 1.1.0 is deferred until 2026-12-01T12:30:00Z"},
		"DeferredThen":  {"After the deferral, the upgrade waits for the next window.", nightly, until("2026-12-01T12:00:00Z"), "upgrade to 1.1.0 waits for the maintenance window at 2026-12-02 02:00 Europe/Berlin"},
		"DeferralOver":  {"A deferral that is over does not count.", nil, until(now), ""},
		"Bounded":       {"The policy ends a deferral that is longer than it allows.", nil, limited(until("2027-12-01T00:00:00Z"), 48*time.Hour, "2026-11-27T00:00:00Z"), "upgrade to 1.1.0 is deferred until 2026-11-29T00:00:00Z"},
		"BoundedOver":   {"The time counts from the start of the rollout.", nil, limited(until("2027-12-01T00:00:00Z"), 48*time.Hour, "2026-11-25T12:00:00Z"), ""},
		"Shorter":       {"A deferral that is shorter than the policy allows ends as the owner of the Kyma wants.", nil, limited(until("2026-11-28T00:00:00Z"), 48*time.Hour, now), "upgrade to 1.1.0 is deferred until 2026-11-28T00:00:00Z"},
		"NotAllowed":    {"A policy without maxDeferral allows no deferral.", nil, limited(until("2027-12-01T00:00:00Z"), 0, now), ""},
		"NotAllowedYet": {"It does not allow one before the rollout starts either.", nil, limited(until("2027-12-01T00:00:00Z"), 0, ""), ""},
		"NotStarted":    {"Before the rollout starts, its end is unknown, and the message must not change with the time.", nil, limited(until("2027-12-01T00:00:00Z"), time.Hour, ""), "upgrade to 1.1.0 is deferred until 2027-12-01T00:00:00Z"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Parse(tc.windows)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if w, waits := WaitAt(c, tc.deferral, timeOf(now)); waits {
				got = w.Message("1.1.0")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nWaitAt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeferralOf(t *testing.T) {
	until, started := metav1.NewTime(timeOf("2026-12-01T00:00:00Z")), metav1.NewTime(timeOf("2026-11-27T00:00:00Z"))
	k := &v1alpha1.Kyma{}
	k.Spec.ForProvider.DeferUpgradesUntil = &until
	channel := &v1alpha1.ChannelRollout{Channel: "regular", StartedAt: &started}
	mandatory := &v1alpha1.ChannelRollout{Channel: v1alpha1.MandatoryChannel, StartedAt: &started}
	week := &v1alpha1.RolloutPolicySpec{MaxDeferral: &metav1.Duration{Duration: 168 * time.Hour}}
	cases := map[string]struct {
		reason  string
		kyma    *v1alpha1.Kyma
		rollout *v1alpha1.ChannelRollout
		policy  *v1alpha1.RolloutPolicySpec
		want    Deferral
	}{
		"None":            {"A Kyma that defers nothing has no end.", &v1alpha1.Kyma{}, channel, week, Deferral{Limited: true, Most: 168 * time.Hour, Started: started.Time}},
		"Template":        {"The channel of a ModuleTemplate has no policy.", k, nil, nil, Deferral{Until: until.Time}},
		"NoPolicy":        {"Without a policy, the owner of the Kyma decides.", k, channel, nil, Deferral{Until: until.Time, Started: started.Time}},
		"Policy":          {"A policy limits the deferral.", k, channel, week, Deferral{Until: until.Time, Limited: true, Most: 168 * time.Hour, Started: started.Time}},
		"Default":         {"A policy without maxDeferral allows none.", k, channel, &v1alpha1.RolloutPolicySpec{}, Deferral{Until: until.Time, Limited: true, Started: started.Time}},
		"Mandatory":       {"A mandatory module is deferred as far as its policy allows.", k, mandatory, week, Deferral{Until: until.Time, Limited: true, Most: 168 * time.Hour, Started: started.Time}},
		"MandatoryAlways": {"Without a policy, a mandatory module is not deferred.", k, mandatory, nil, Deferral{Until: until.Time, Limited: true, Started: started.Time}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, DeferralOf(tc.kyma, tc.rollout, tc.policy)); diff != "" {
				t.Errorf("%s\nDeferralOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDelay checks that the Kymas of a fleet begin their upgrades evenly over the spread.
func TestDelay(t *testing.T) {
	perSecond := map[int]int{}
	for i := range 10_000 {
		k := &v1alpha1.Kyma{}
		k.UID = types.UID(fmt.Sprintf("3f0c5a5e-%04d-4c8e-9f62-8f3f0e1d2c3b", i))
		perSecond[int(Delay(k)/time.Second)]++
	}
	for s := range 10 {
		if n := perSecond[s]; n < 800 || n > 1200 {
			t.Errorf("second %d: want about 1000 Kymas, got %d", s, n)
		}
	}
	if len(perSecond) != 10 {
		t.Errorf("want 10 seconds, got %v", perSecond)
	}
}
