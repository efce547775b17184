// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// noon is the time of the tests.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(d)} }

func TestNext(t *testing.T) {
	old := Member{Namespace: "n", Name: "old", Hash: 10, Installed: true, Ready: true}
	updated := Member{Namespace: "n", Name: "new", Hash: 20, Installed: true, Updated: true, Ready: true}
	broken := Member{Namespace: "n", Name: "broken", Hash: 5, Installed: true, Updated: true, Error: true, Message: "boom"}
	slow := Member{Namespace: "n", Name: "slow", Hash: 5, Installed: true, Updated: true}
	blipping := Member{Namespace: "n", Name: "blip", Hash: 5, Installed: true, Updated: true, Passed: true, Unready: noon.Add(-59 * time.Second)}
	with := func(m Member, change func(m *Member)) Member {
		change(&m)
		return m
	}
	release := v1alpha1.Release{Version: "2.0.0"}
	two, one := intstr.FromInt32(2), intstr.FromInt32(1)
	policy := &v1alpha1.RolloutPolicySpec{
		Waves:         []v1alpha1.RolloutWave{{Name: "all", Batch: &one, Soak: &metav1.Duration{Duration: time.Minute}}},
		FailureBudget: &one,
	}
	back := policy.DeepCopy()
	back.OnFailure = v1alpha1.FailurePolicyRollback
	lenient := policy.DeepCopy()
	lenient.FailureBudget, lenient.Waves[0].Batch = &two, &two
	progressing := func(change func(r *v1alpha1.ChannelRollout)) *v1alpha1.ChannelRollout {
		out := &v1alpha1.ChannelRollout{
			Channel: "fast", Version: "2.0.0", Previous: "1.0.0", Phase: v1alpha1.RolloutProgressing, StartedAt: at(-time.Hour),
			BatchStartedAt: at(-time.Minute), Threshold: 6,
		}
		change(out)
		return out
	}
	none := func(*v1alpha1.ChannelRollout) {}
	cases := map[string]struct {
		reason string
		in     Input
		want   v1alpha1.ChannelRollout
		again  time.Duration
	}{
		"New": {
			reason: "A channel in which no Kyma has another version is complete.",
			in:     Input{Release: release, Members: []Member{updated, {Namespace: "n", Name: "first"}}},
			want:   v1alpha1.ChannelRollout{Phase: v1alpha1.RolloutComplete, Threshold: All},
		},
		"NewWithOthers": {
			reason: "Kymas that have another version do not change at once only because the ModuleReleaseMeta is new.",
			in:     Input{Release: release, Policy: policy, Members: []Member{old}},
			want:   v1alpha1.ChannelRollout{Phase: v1alpha1.RolloutProgressing, Threshold: All, BatchStartedAt: at(0), WaveName: "all"},
			again:  defaultDeadline,
		},
		"NewVersion": {
			reason: "A new version starts with the first batch, and the version before is the last one that was complete.",
			in: Input{Release: release, Policy: policy, Members: []Member{old, with(old, func(m *Member) { m.Hash = 30 })},
				Status: &v1alpha1.ChannelRollout{Version: "1.0.0", Previous: "0.9.0", Phase: v1alpha1.RolloutComplete}},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 11, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"Superseded": {
			reason: "A version during a rollout replaces it, and does not become the version to return to.",
			in: Input{Release: v1alpha1.Release{Version: "3.0.0"}, Policy: policy, Members: []Member{old},
				Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"Soaks": {
			reason: "A batch that is Ready soaks.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(updated, func(m *Member) { m.Hash = 5 }), old},
				Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), SoakingSince: at(0),
				WaveName: "all",
			},
			again: time.Minute,
		},
		"Soaked": {
			reason: "After the soak time, the next batch begins.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(updated, func(m *Member) { m.Hash = 5 }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"BlipWhileSoaking": {
			reason: "A Kyma that was Ready, and is not Ready for a moment, has no effect, whatever the budget.",
			in: Input{Release: release, Policy: policy, Members: []Member{blipping, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Second) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), SoakingSince: at(-time.Second),
				WaveName: "all",
			},
			again: 59 * time.Second,
		},
		"BlipDoesNotCountAsExposed": {
			reason: "The next batch begins while a Kyma that was Ready is not Ready for a moment.",
			in: Input{Release: release, Policy: policy, Members: []Member{blipping, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"UnreadyAgain": {
			reason: "After a minute, it blocks the rollout, if its failure would use up the budget.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(blipping, func(m *Member) { m.Unready = noon.Add(-time.Minute) }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
			},
			again: defaultDeadline - time.Minute,
		},
		"UnreadyWithinBudget": {
			reason: "It does not block the rollout if its failure would not use up the budget.",
			in: Input{Release: release, Policy: lenient, Members: []Member{
				with(blipping, func(m *Member) { m.Unready = noon.Add(-time.Minute) }), with(updated, func(m *Member) { m.Hash = 4 }), old,
			}, Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"UnreadyWhileSoaking": {
			reason: "The soak time starts again if a module is not Ready.",
			in: Input{Release: release, Policy: policy, Members: []Member{slow, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Second) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
			},
			again: 9 * time.Minute,
		},
		"Late": {
			reason: "The deadline of a cluster that returned, or whose window began, starts then.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(slow, func(m *Member) { m.Since = noon.Add(-time.Minute) }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-time.Hour) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Hour), WaveName: "all",
			},
			again: 9 * time.Minute,
		},
		"AllFailed": {
			reason: "A wave in which each Kyma fails has failed, even if the budget is larger.",
			in:     Input{Release: release, Policy: lenient, Members: []Member{broken}, Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "broken", Message: "boom"}},
			},
		},
		"Offline": {
			reason: "A cluster that cannot be reached does not block the next batch.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(slow, func(m *Member) { m.Offline = true }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.SoakingSince = at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: defaultDeadline,
		},
		"Deadline": {
			reason: "A module that is not Ready at the deadline has failed.",
			in: Input{Release: release, Policy: policy, Members: []Member{slow, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-10 * time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-10 * time.Minute), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "slow"}},
			},
		},
		"Error": {
			reason: "A module in state Error has failed after a while, without waiting for the deadline.",
			in:     Input{Release: release, Policy: policy, Members: []Member{broken, old}, Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "broken", Message: "boom"}},
			},
		},
		"ErrorAtFirst": {
			reason: "An error right after the change may pass.",
			in: Input{Release: release, Policy: policy, Members: []Member{broken, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-time.Second) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Second), WaveName: "all",
			},
			again: errorGrace - time.Second,
		},
		"RolledBackModule": {
			reason: "A module whose upgrade was rolled back in its cluster has failed, although it is Ready.",
			in: Input{Release: release, Policy: policy, Status: progressing(none), Members: []Member{
				with(updated, func(m *Member) { m.Hash, m.RolledBack = 5, true }), old}},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message: "1 Kyma failed in wave all",
			},
		},
		"Refused": {
			reason: "A Kyma that may have the version, and cannot change to it, does not block the rollout forever.",
			in: Input{Release: release, Policy: policy, Members: []Member{
				{Namespace: "n", Name: "refused", Hash: 5, Installed: true, Error: true, Message: "values are not allowed"}, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-10 * time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-10 * time.Minute), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "refused", Message: "values are not allowed"}},
			},
		},
		"Behind": {
			reason: "A Kyma that may have the version, and that the provider has not changed yet, has not failed.",
			in: Input{Release: release, Policy: policy, Members: []Member{with(old, func(m *Member) { m.Hash = 5 }), with(old, func(m *Member) { m.Hash = 30 })},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-time.Hour) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Hour), WaveName: "all",
			},
		},
		"Flapping": {
			reason: "A module whose message changes all the time has failed at the deadline too.",
			in: Input{Release: release, Policy: policy, Members: []Member{
				with(slow, func(m *Member) { m.Since, m.Unready = noon.Add(-time.Second), noon.Add(-11*time.Minute) }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.BatchStartedAt = at(-time.Hour) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Hour), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "slow"}},
			},
		},
		"WithinBudget": {
			reason: "Fewer failures than the budget do not stop the rollout.",
			in: Input{Release: release, Policy: lenient, Members: []Member{broken, with(updated, func(m *Member) { m.Hash = 6 }), old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.Threshold, r.SoakingSince = 7, at(-time.Minute) })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0), WaveName: "all",
			},
			again: errorGrace,
		},
		"RollsBack": {
			reason: "With Rollback, the wave goes back after a failure.",
			in:     Input{Release: release, Policy: back, Members: []Member{broken, old}, Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutRollingBack, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message:  "1 Kyma failed in wave all",
				Failures: []v1alpha1.RolloutFailure{{Namespace: "n", Name: "broken", Message: "boom"}},
			},
		},
		"RolledBack": {
			reason: "The rollback ends when no Kyma of the wave has the version, except for those that cannot be reached.",
			in: Input{Release: release, Policy: back, Members: []Member{old, with(updated, func(m *Member) { m.Offline = true })},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.Phase = v1alpha1.RolloutRollingBack })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutRolledBack, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
			},
		},
		"Complete": {
			reason: "The rollout is complete after the soak time of the last wave.",
			in: Input{Release: release, Policy: policy, Members: []Member{updated},
				Status: progressing(func(r *v1alpha1.ChannelRollout) {
					r.Threshold, r.SoakingSince, r.Wave = All, at(-time.Minute), 1
				})},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutComplete, Previous: "1.0.0", Threshold: All, Wave: 1, WaveName: "rest",
			},
		},
		"Pauses": {
			reason: "A paused rollout keeps its place.",
			in: Input{Release: v1alpha1.Release{Version: "2.0.0", Paused: true}, Policy: policy, Members: []Member{old},
				Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutPaused, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message: "the rollout is paused",
			},
		},
		"Aborts": {
			reason: "An aborted rollout has failed.",
			in: Input{Release: v1alpha1.Release{Version: "2.0.0", AbortedVersion: "2.0.0"}, Policy: policy, Members: []Member{old},
				Status: progressing(none)},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutFailed, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(-time.Minute), WaveName: "all",
				Message: "the rollout was aborted",
			},
		},
		"Retries": {
			reason: "A retry continues with the wave that failed.",
			in: Input{Release: v1alpha1.Release{Version: "2.0.0", Retry: "again"}, Policy: policy, Members: []Member{slow, old},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.Phase, r.Message = v1alpha1.RolloutFailed, "too many" })},
			want: v1alpha1.ChannelRollout{
				Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: 6, BatchStartedAt: at(0), Retry: "again", WaveName: "all",
			},
			again: defaultDeadline,
		},
		"AtOnce": {
			reason: "Without a policy and a spread, all Kymas change at once.",
			in: Input{Release: release, Members: []Member{old, with(old, func(m *Member) { m.Hash = 30 })},
				Status: progressing(func(r *v1alpha1.ChannelRollout) { r.Threshold = 0 })},
			want:  v1alpha1.ChannelRollout{Phase: v1alpha1.RolloutProgressing, Previous: "1.0.0", Threshold: All, BatchStartedAt: at(0)},
			again: defaultDeadline,
		},
	}
	numbers := cmpopts.IgnoreFields(v1alpha1.ChannelRollout{}, "WavesDigest", "Version", "Channel", "StartedAt", "Total", "Updated", "Ready", "Failed", "Offline", "Waiting")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.Now, tc.in.Channel = noon, "fast"
			got, again := Next(tc.in)
			if diff := cmp.Diff(tc.want, got, numbers, cmpopts.EquateEmpty()); diff != "" || again != tc.again {
				t.Errorf("%s\n-want, +got:\n%s\nagain: want %s, got %s", tc.reason, diff, tc.again, again)
			}
			if got.Version != tc.in.Release.Version || got.Channel != "fast" || got.Total != int32(len(tc.in.Members)) {
				t.Errorf("version %s, channel %s, total %d", got.Version, got.Channel, got.Total)
			}
		})
	}
}
