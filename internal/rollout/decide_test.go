// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// rings returns a policy with the waves canary and early, and then all other Kymas.
func rings() *v1alpha1.RolloutPolicySpec {
	ring := func(name string) *metav1.LabelSelector {
		return metav1.SetAsLabelSelector(map[string]string{"ring": name})
	}
	return &v1alpha1.RolloutPolicySpec{Waves: []v1alpha1.RolloutWave{
		{Name: "canary", Selector: ring("canary")}, {Name: "early", Selector: ring("early")},
	}}
}

func TestDecide(t *testing.T) {
	in := func(phase v1alpha1.RolloutPhase, wave int32, threshold int64) *v1alpha1.ChannelRollout {
		return &v1alpha1.ChannelRollout{Version: "2.0.0", Previous: "1.0.0", Phase: phase, Wave: wave, Threshold: threshold}
	}
	canary, early := map[string]string{"ring": "canary"}, map[string]string{"ring": "early"}
	cases := map[string]struct {
		reason  string
		rollout *v1alpha1.ChannelRollout
		policy  *v1alpha1.RolloutPolicySpec
		kyma    Kyma
		want    Decision
	}{
		"Complete": {
			reason:  "After the rollout, each Kyma has the version.",
			rollout: in(v1alpha1.RolloutComplete, 2, All), policy: rings(), kyma: Kyma{Installed: "1.0.0"},
			want: Decision{Version: "2.0.0"},
		},
		"First": {
			reason:  "A first install does not wait for a wave.",
			rollout: in(v1alpha1.RolloutProgressing, 0, 0), policy: rings(), kyma: Kyma{},
			want: Decision{Version: "2.0.0"},
		},
		"FirstAfterFailure": {
			reason:  "A first install does not get a version that failed.",
			rollout: in(v1alpha1.RolloutFailed, 0, All), policy: rings(), kyma: Kyma{},
			want: Decision{Version: "1.0.0"},
		},
		"FirstEver": {
			reason:  "Without a previous version, a first install gets the only one there is.",
			rollout: &v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutFailed}, kyma: Kyma{},
			want: Decision{Version: "2.0.0"},
		},
		"Current": {
			reason:  "A Kyma in the current wave below the threshold changes.",
			rollout: in(v1alpha1.RolloutProgressing, 0, All), policy: rings(), kyma: Kyma{Installed: "1.0.0", Labels: canary},
			want: Decision{Version: "2.0.0"},
		},
		"Batch": {
			reason:  "A Kyma in the current wave above the threshold waits for its batch.",
			rollout: in(v1alpha1.RolloutProgressing, 0, 0), policy: rings(), kyma: Kyma{Installed: "1.0.0", Labels: canary},
			want: Decision{Version: "1.0.0", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for its batch in wave canary of the rollout"},
		},
		"Later": {
			reason:  "A Kyma in a later wave keeps what it has, which can be older than the previous version.",
			rollout: in(v1alpha1.RolloutProgressing, 0, All), policy: rings(), kyma: Kyma{Installed: "0.9.0", Labels: early},
			want: Decision{Version: "0.9.0", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave early of the rollout"},
		},
		"Rest": {
			reason:  "Kymas that no wave selects are the last wave.",
			rollout: in(v1alpha1.RolloutProgressing, 1, All), policy: rings(), kyma: Kyma{Installed: "1.0.0"},
			want: Decision{Version: "1.0.0", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave rest of the rollout"},
		},
		"Earlier": {
			reason:  "A Kyma in an earlier wave that was away changes when it returns.",
			rollout: in(v1alpha1.RolloutProgressing, 1, 0), policy: rings(), kyma: Kyma{Installed: "1.0.0", Labels: canary},
			want: Decision{Version: "2.0.0"},
		},
		"NoPolicy": {
			reason:  "Without a policy, there is one wave without a name.",
			rollout: in(v1alpha1.RolloutProgressing, 0, 0), kyma: Kyma{Installed: "1.0.0"},
			want: Decision{Version: "1.0.0", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for its turn of the rollout"},
		},
		"Has": {
			reason:  "A Kyma that has the version keeps it, even if its labels now select a later wave.",
			rollout: in(v1alpha1.RolloutProgressing, 0, 0), policy: rings(), kyma: Kyma{Installed: "2.0.0"},
			want: Decision{Version: "2.0.0"},
		},
		"Paused": {
			reason:  "No Kyma changes while the rollout is paused, not even one below the threshold.",
			rollout: in(v1alpha1.RolloutPaused, 0, All), policy: rings(), kyma: Kyma{Installed: "1.0.0", Labels: canary},
			want: Decision{Version: "1.0.0", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits until the rollout is resumed"},
		},
		"Failed": {
			reason:  "No further Kyma gets a version that failed.",
			rollout: in(v1alpha1.RolloutFailed, 0, All), policy: rings(), kyma: Kyma{Installed: "1.0.0", Labels: canary},
			want: Decision{Version: "1.0.0", Message: "the rollout of 2.0.0 failed"},
		},
		"Stopped": {
			reason:  "Without a rollback, a Kyma keeps the version that failed.",
			rollout: in(v1alpha1.RolloutFailed, 0, All), policy: rings(), kyma: Kyma{Installed: "2.0.0", Labels: canary},
			want: Decision{Version: "2.0.0"},
		},
		"RollsBack": {
			reason:  "The wave that failed goes back to the version before.",
			rollout: in(v1alpha1.RolloutRollingBack, 0, All), policy: rings(), kyma: Kyma{Installed: "2.0.0", Labels: canary},
			want: Decision{Version: "1.0.0", Downgrade: true, Message: "the rollout of 2.0.0 failed and is rolled back"},
		},
		"RolledBackLate": {
			reason:  "A Kyma of that wave that was away goes back when it returns.",
			rollout: in(v1alpha1.RolloutRolledBack, 0, All), policy: rings(), kyma: Kyma{Installed: "2.0.0", Labels: canary},
			want: Decision{Version: "1.0.0", Downgrade: true, Message: "the rollout of 2.0.0 failed and is rolled back"},
		},
		"EarlierWaveKeeps": {
			reason:  "An earlier wave, in which the version works, keeps it.",
			rollout: in(v1alpha1.RolloutRollingBack, 1, All), policy: rings(), kyma: Kyma{Installed: "2.0.0", Labels: canary},
			want: Decision{Version: "2.0.0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Decide("istio", tc.rollout, tc.policy, tc.kyma)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
