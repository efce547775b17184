// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"hash/fnv"
	"time"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Deferral postpones upgrades.
type Deferral struct {
	// Until is when it ends. It is zero if the owner of the Kyma defers nothing.
	Until time.Time
	// Limited is true if a RolloutPolicy, or a mandatory module without one, limits it to Most after Started.
	Limited bool
	Most    time.Duration
	// Started is when the rollout of the version started. It is zero if the rollout has not started yet.
	Started time.Time
}

// DeferralOf returns the deferral of upgrades that a Kyma requests, as far as the platform team allows it. rollout is the state of the
// rollout of the version, and nil if a ModuleTemplate assigns it to a channel. policy is the RolloutPolicy of the version, or nil. Without
// a policy, only a mandatory module is limited: it cannot be deferred, because the owner of a Kyma can't avoid it by a pin either.
func DeferralOf(k *v1alpha1.Kyma, rollout *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec) Deferral {
	out := Deferral{}
	if until := k.Spec.ForProvider.DeferUpgradesUntil; until != nil {
		out.Until = until.Time
	}
	out.Limited = rollout != nil && (policy != nil || rollout.Channel == v1alpha1.MandatoryChannel)
	if policy != nil && policy.MaxDeferral != nil {
		out.Most = policy.MaxDeferral.Duration
	}
	if rollout != nil && rollout.StartedAt != nil {
		out.Started = rollout.StartedAt.Time
	}
	return out
}

// EndAt returns when a deferral ends, or zero if there is none at that time.
func (d Deferral) EndAt(now time.Time) time.Time {
	end := d.Until
	// A rollout that has not started limits nothing yet, unless it cannot be deferred at all.
	if latest := d.Started.Add(d.Most); d.Limited && (!d.Started.IsZero() || d.Most <= 0) && latest.Before(end) {
		end = latest
	}
	if !end.After(now) {
		return time.Time{}
	}
	return end
}

// A Wait describes why an upgrade waits.
type Wait struct {
	// Until is when the upgrade may begin. It is zero if no window opens within five years.
	Until time.Time
	// Deferred is true if the upgrade only waits for the end of a deferral.
	Deferred bool
}

// WaitAt returns why an upgrade waits at a time, and false if it does not wait.
func WaitAt(c Calendar, d Deferral, now time.Time) (Wait, bool) {
	end := d.EndAt(now)
	if end.IsZero() {
		s := c.At(now)
		return Wait{Until: s.Opens}, !s.Open
	}
	s := c.At(end)
	if s.Open {
		return Wait{Until: end, Deferred: true}, true
	}
	return Wait{Until: s.Opens}, true
}

// Message describes the wait for a version. It stays the same until the upgrade begins.
func (w Wait) Message(version string) string {
	switch {
	case w.Deferred:
		return "upgrade to " + version + " is deferred until " + w.Until.UTC().Format(time.RFC3339)
	case w.Until.IsZero():
		return "upgrade to " + version + " waits for a maintenance window, and none opens within five years"
	}
	return "upgrade to " + version + " waits for the maintenance window at " + w.Until.Format("2006-01-02 15:04") + " " +
		w.Until.Location().String()
}

// spread is the period over which the upgrades of all Kymas begin that wait for the same time, in milliseconds.
const spread = 10_000

// Delay returns how long after a time a Kyma begins its upgrades, so that the Kymas of a fleet do not begin at the same time.
func Delay(k *v1alpha1.Kyma) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.UID))
	return time.Duration(h.Sum32()%spread) * time.Millisecond
}
