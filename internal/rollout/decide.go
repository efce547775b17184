// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"

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
	// Version is the version that the Kyma has now.
	Version string
	// Pending is the version that the Kyma will have when the rollout reaches it, or empty.
	Pending string
	// Downgrade is true if Version may be lower than the installed version, because the rollout is rolled back.
	Downgrade bool
	// Message explains why the Kyma does not have the version of the channel, such as "upgrade to 1.1.0 waits for wave rest of the
	// rollout".
	Message string
}

// Decide returns the version of a module that a Kyma has, given the state of the rollout in its channel. policy is nil if the
// release has no RolloutPolicy. A Kyma that does not have the module yet gets the version of the channel, unless its rollout has
// failed. A Kyma whose turn has not come keeps the version that it has, whichever it is.
func Decide(module string, r *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec, k Kyma) Decision {
	if r.Phase == v1alpha1.RolloutComplete {
		return Decision{Version: r.Version}
	}
	failed, waves := HasFailed(r.Phase), WavesOf(policy)
	switch {
	case k.Installed == "" && failed:
		return Decision{Version: cmp.Or(r.Previous, r.Version)}
	case k.Installed == "":
		return Decision{Version: r.Version}
	case goesBack(r, policy, waves.Of(k.Labels), k.Installed):
		return Decision{Version: r.Previous, Downgrade: true, Message: fmt.Sprintf("the rollout of %s failed and is rolled back", r.Version)}
	case k.Installed == r.Version:
		return Decision{Version: r.Version}
	case failed:
		return Decision{Version: k.Installed, Message: fmt.Sprintf("the rollout of %s failed", r.Version)}
	case r.Phase == v1alpha1.RolloutPaused:
		return Decision{Version: k.Installed, Pending: r.Version, Message: fmt.Sprintf("upgrade to %s waits until the rollout is resumed", r.Version)}
	case Fits(r, policy) && waves.Position(module, r.Version, k).IsReached(r):
		return Decision{Version: r.Version}
	}
	return Decision{Version: k.Installed, Pending: r.Version, Message: fmt.Sprintf("upgrade to %s waits for %s of the rollout", r.Version,
		turnOf(r, policy, waves.Of(k.Labels)))}
}

// HasFailed reports whether a rollout has failed.
func HasFailed(p v1alpha1.RolloutPhase) bool {
	return p == v1alpha1.RolloutFailed || p == v1alpha1.RolloutRollingBack || p == v1alpha1.RolloutRolledBack
}

// goesBack reports whether a Kyma of a wave changes back to the previous version: its wave has failed.
func goesBack(r *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec, wave int, installed string) bool {
	return (r.Phase == v1alpha1.RolloutRollingBack || r.Phase == v1alpha1.RolloutRolledBack) && r.Previous != "" &&
		installed == r.Version && wave == int(r.Wave) && Fits(r, policy)
}

// turnOf describes what a Kyma of a wave waits for.
func turnOf(r *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec, wave int) string {
	name := NameOf(policy, wave)
	switch {
	case name == "":
		return "its turn"
	case wave == int(r.Wave):
		return "its batch in wave " + name
	}
	return "wave " + name
}
