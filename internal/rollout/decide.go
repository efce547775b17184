// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Kyma contains what a decision about a Kyma depends on.
type Kyma struct {
	UID    types.UID
	Labels map[string]string
	// Installed is the version of the module that the Kyma has from this channel, or empty.
	Installed string
}

// A Decision specifies the version of a module that a Kyma has for now.
type Decision struct {
	// Version is the version that the Kyma has now. It is empty if Kymas have to wait until the release is processed.
	Version string
	// Pending is the version that the Kyma will have when the rollout reaches it, or empty.
	Pending string
	// Downgrade is true if Version may be lower than the installed version, because the rollout is rolled back.
	Downgrade bool
	// Message explains why the Kyma waits for Pending, such as "upgrade to 1.1.0 waits for wave rest of the rollout".
	Message string
}

// Decide returns the version of a module that a Kyma has, given the state of the rollout in its channel. policy is nil if the
// release has no RolloutPolicy.
func Decide(module string, rollout *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec, k Kyma) Decision {
	_, _, _ = module, policy, k
	return Decision{Version: rollout.Version}
}
