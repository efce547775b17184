// SPDX-License-Identifier: Apache-2.0

package observe

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"

// A Phase says where a part of a bundle stands. The State of the part follows from it.
type Phase string

// The phases of a part.
const (
	// PhaseReady says that all objects are as they were applied, and work.
	PhaseReady Phase = "Ready"
	// PhaseMissing says that an object was deleted, and that the policy for drift ignores that.
	PhaseMissing Phase = "Missing"

	// PhaseApplying says that the inputs of the part are not in the cluster yet: nothing is wrong, and the part waits for
	// nothing.
	PhaseApplying Phase = "Applying"
	// PhaseHooksRunning says that the part waits for a hook.
	PhaseHooksRunning Phase = "HooksRunning"
	// PhaseBlocked says that the inputs are not in the cluster yet because the last step waited for something else.
	PhaseBlocked Phase = "Blocked"
	// PhaseDrifted says that an object was changed or deleted, and is about to be repaired.
	PhaseDrifted Phase = "Drifted"
	// PhaseProgressing says that an object is not ready yet.
	PhaseProgressing Phase = "Progressing"
	// PhasePruning says that an object which the part no longer has is being deleted.
	PhasePruning Phase = "Pruning"
	// PhaseLeaving says that the part is no longer in the bundle, and is being removed.
	PhaseLeaving Phase = "Leaving"

	// PhaseCeded says that fields of an object were left to another manager after an ownership conflict.
	PhaseCeded Phase = "Ceded"
	// PhaseChanged says that an object was changed, and that the policy for drift only reports that.
	PhaseChanged Phase = "Changed"
	// PhaseBroken says that an object is missing or was replaced by a foreign one, and that this is only reported.
	PhaseBroken Phase = "Broken"
	// PhaseContended says that an object was deleted so often that its repair has to wait.
	PhaseContended Phase = "Contended"
	// PhaseDegraded says that an object reports a warning.
	PhaseDegraded Phase = "Degraded"

	// PhaseFailed says that the last step could not apply the part, or not delete what it no longer has.
	PhaseFailed Phase = "Failed"
	// PhaseHookFailed says that a hook failed, and that nothing more is done for these inputs.
	PhaseHookFailed Phase = "HookFailed"
	// PhaseUnreadable says that the credentials may not read an object.
	PhaseUnreadable Phase = "Unreadable"
	// PhaseUnhealthy says that an object has failed.
	PhaseUnhealthy Phase = "Unhealthy"
	// PhaseRemovalFailed says that the part is no longer in the bundle, and that a hook of its removal failed.
	PhaseRemovalFailed Phase = "RemovalFailed"

	// PhaseTerminating says that the custom resource reports that it is being deleted.
	PhaseTerminating Phase = "Terminating"
)

// states has the state of each phase.
var states = map[Phase]health.State{ //nolint:gochecknoglobals // A constant table.
	PhaseReady:   health.Ready,
	PhaseMissing: health.Ready,

	PhaseApplying:     health.Processing,
	PhaseHooksRunning: health.Processing,
	PhaseBlocked:      health.Processing,
	PhaseDrifted:      health.Processing,
	PhaseProgressing:  health.Processing,
	PhasePruning:      health.Processing,
	PhaseLeaving:      health.Processing,

	PhaseCeded:     health.Warning,
	PhaseChanged:   health.Warning,
	PhaseBroken:    health.Warning,
	PhaseContended: health.Warning,
	PhaseDegraded:  health.Warning,

	PhaseFailed:        health.Error,
	PhaseHookFailed:    health.Error,
	PhaseUnreadable:    health.Error,
	PhaseUnhealthy:     health.Error,
	PhaseRemovalFailed: health.Error,

	PhaseTerminating: health.Deleting,
}

// State returns the state of a part in the phase.
func (p Phase) State() health.State { return states[p] }

// phaseOf returns the phase of a part for the state of one of its objects.
func phaseOf(s health.State) Phase {
	switch s {
	case health.Ready:
		return PhaseReady
	case health.Warning:
		return PhaseDegraded
	case health.Error:
		return PhaseUnhealthy
	case health.Deleting:
		return PhaseTerminating
	case health.Processing:
	}
	return PhaseProgressing
}

// A finding is one thing that was found about a part.
type finding struct {
	phase   Phase
	message string
}

// conclude returns the finding that tells the phase of a part: the first of the most urgent ones.
func conclude(findings []finding) finding {
	out := finding{phase: PhaseReady}
	for _, f := range findings {
		s := f.phase.State()
		if s.MoreUrgentThan(out.phase.State()) || (s == out.phase.State() && out.message == "") {
			out = f
		}
	}
	return out
}

// works reports whether all objects of parts exist and work, although others changed some of them or own fields of them.
// Without such a change the answer is false.
func works(findings []finding) bool {
	warned := false
	for _, f := range findings {
		switch f.phase {
		case PhaseReady, PhaseMissing:
		case PhaseCeded, PhaseChanged:
			warned = true
		default:
			return false
		}
	}
	return warned
}
