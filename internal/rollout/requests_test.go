// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestNextAfterTrouble checks what a retry exposes, and how Kymas count that return, join, or cannot be changed.
func TestNextAfterTrouble(t *testing.T) {
	one := intstr.FromInt32(1)
	policy := &v1alpha1.RolloutPolicySpec{
		Waves:         []v1alpha1.RolloutWave{{Name: "all", Soak: &metav1.Duration{Duration: time.Hour}}},
		FailureBudget: &one, OnFailure: v1alpha1.FailurePolicyRollback,
	}
	old := func(hash uint32) Member { return Member{Hash: hash, Installed: true, Ready: true} }
	updated := func(hash uint32) Member { return Member{Hash: hash, Installed: true, Updated: true, Ready: true} }
	joined := func(d time.Duration) Member { return Member{Hash: 10, Since: noon.Add(d), Unready: noon.Add(d)} }
	broken := func(since, unready time.Duration) Member {
		return Member{Hash: 5, Installed: true, Updated: true, Error: true, Since: noon.Add(since), Unready: noon.Add(unready)}
	}
	with := func(m Member, change func(m *Member)) Member {
		change(&m)
		return m
	}
	cases := map[string]struct {
		reason    string
		phase     v1alpha1.RolloutPhase
		retry     string
		soaking   time.Duration
		members   []Member
		want      v1alpha1.RolloutPhase
		threshold int64
		soaks     bool
	}{
		"RetryAfterRollback": {
			reason: "The Kymas of a wave that went back do not all get the version again at once.",
			phase:  v1alpha1.RolloutRolledBack, retry: "again", members: []Member{old(5), old(10), old(20), old(90)},
			want: v1alpha1.RolloutProgressing, threshold: 6,
		},
		"RetryDuringRollback": {
			reason: "The same applies while they go back.",
			phase:  v1alpha1.RolloutRollingBack, retry: "again", members: []Member{old(5), updated(10), old(20), old(90)},
			want: v1alpha1.RolloutProgressing, threshold: 6,
		},
		"RetryAfterStop": {
			reason: "Without a rollback, they have the version, and keep their place.",
			phase:  v1alpha1.RolloutFailed, retry: "again", members: []Member{updated(5), updated(10), old(20), old(90)},
			want: v1alpha1.RolloutProgressing, threshold: 21,
		},
		"Held": {
			reason: "A rollback does not wait for a Kyma whose owner does not let it change.",
			phase:  v1alpha1.RolloutRollingBack, members: []Member{with(updated(5), func(m *Member) { m.Held = true }), old(10)},
			want: v1alpha1.RolloutRolledBack, threshold: 20,
		},
		"Returned": {
			reason: "A cluster that could not be reached until a moment ago has not failed, although its state is old.",
			phase:  v1alpha1.RolloutProgressing, members: []Member{broken(-time.Second, -time.Second), old(90)},
			want: v1alpha1.RolloutProgressing, threshold: 20,
		},
		"OtherModule": {
			reason: "The state of a Kyma can be that of another module for longer than the deadline.",
			phase:  v1alpha1.RolloutProgressing, members: []Member{
				with(broken(-time.Hour, -5*time.Second), func(m *Member) { m.Error, m.Passed = false, true }), old(90)},
			want: v1alpha1.RolloutProgressing, threshold: All,
		},
		"Joins": {
			reason: "A Kyma that joins a batch does not restart its soak time.",
			phase:  v1alpha1.RolloutProgressing, soaking: time.Minute, members: []Member{updated(5), joined(-30 * time.Second)},
			want: v1alpha1.RolloutProgressing, threshold: 20, soaks: true,
		},
		"JoinsLong": {
			reason: "It does if it takes longer, and its failure would use up the budget.",
			phase:  v1alpha1.RolloutProgressing, soaking: time.Minute, members: []Member{updated(5), joined(-2 * time.Minute)},
			want: v1alpha1.RolloutProgressing, threshold: 20,
		},
		"NotYet": {
			reason: "The soak time begins when all Kymas of the batch are Ready.",
			phase:  v1alpha1.RolloutProgressing, members: []Member{updated(5), joined(-30 * time.Second)},
			want: v1alpha1.RolloutProgressing, threshold: 20,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status := &v1alpha1.ChannelRollout{
				Version: "2.0.0", Previous: "1.0.0", Phase: tc.phase, BatchStartedAt: at(-time.Hour), Threshold: 20, WavesDigest: DigestOf(policy),
			}
			if tc.soaking > 0 {
				status.SoakingSince = at(-tc.soaking)
			}
			got, _ := Next(Input{Release: v1alpha1.Release{Version: "2.0.0", Retry: tc.retry}, Status: status, Policy: policy, Members: tc.members, Now: noon})
			if got.Phase != tc.want || got.Threshold != tc.threshold || (got.SoakingSince != nil) != tc.soaks {
				t.Errorf("%s want %s with threshold %d, soaking %t, got %s with %d, %v", tc.reason, tc.want, tc.threshold, tc.soaks, got.Phase, got.Threshold, got.SoakingSince)
			}
		})
	}
}
