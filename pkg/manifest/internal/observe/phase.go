// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A Phase is the phase of a part of a bundle. It determines the State of the part.
type Phase string

// These are the phases of a part.
const (
	// PhaseReady means that all objects are in their applied state and ready.
	PhaseReady Phase = "Ready"
	// PhaseMissing means that an object was deleted, which the drift policy ignores.
	PhaseMissing Phase = "Missing"

	// PhaseApplying means that the inputs of the part have not been applied yet. Nothing has failed, and the part is not waiting for
	// anything.
	PhaseApplying Phase = "Applying"
	// PhaseHooksRunning means that the part waits for a hook.
	PhaseHooksRunning Phase = "HooksRunning"
	// PhaseBlocked means that the inputs have not been applied yet because the last step waited for something other than a hook.
	PhaseBlocked Phase = "Blocked"
	// PhaseDrifted means that an object was changed or deleted and is about to be repaired.
	PhaseDrifted Phase = "Drifted"
	// PhaseProgressing means that an object is not ready yet.
	PhaseProgressing Phase = "Progressing"
	// PhasePruning means that an object that the part no longer contains is being deleted.
	PhasePruning Phase = "Pruning"
	// PhaseRemoving means that the bundle no longer contains the part, and that its objects are being removed.
	PhaseRemoving Phase = "Removing"

	// PhaseCeded means that fields of an object were ceded to another manager after an ownership conflict.
	PhaseCeded Phase = "Ceded"
	// PhaseChanged means that an object was changed, which the drift policy only reports.
	PhaseChanged Phase = "Changed"
	// PhaseBroken means that an object is missing or was replaced by a foreign one, which the drift policy only reports.
	PhaseBroken Phase = "Broken"
	// PhaseTakenOver means that an object now belongs to another bundle, which manages it from then on.
	PhaseTakenOver Phase = "TakenOver"
	// PhaseContended means that an object was deleted so often that its repair must wait.
	PhaseContended Phase = "Contended"
	// PhaseDegraded means that an object reports a warning.
	PhaseDegraded Phase = "Degraded"

	// PhaseFailed means that the last step could not apply the part, or could not delete objects that it no longer contains.
	PhaseFailed Phase = "Failed"
	// PhaseRetrying means that the last step could not apply the part because a server did not respond. The next step might
	// succeed without any change.
	PhaseRetrying Phase = "Retrying"
	// PhaseHookFailed means that a hook failed. The engine does nothing more for these inputs.
	PhaseHookFailed Phase = "HookFailed"
	// PhaseUnreadable means that the credentials may not read an object.
	PhaseUnreadable Phase = "Unreadable"
	// PhaseUnhealthy means that an object has failed.
	PhaseUnhealthy Phase = "Unhealthy"
	// PhaseRemovalFailed means that the part is no longer in the bundle and a hook of its removal failed.
	PhaseRemovalFailed Phase = "RemovalFailed"

	// PhaseTerminating means that the custom resource reports that it is being deleted.
	PhaseTerminating Phase = "Terminating"
)

// states maps each phase to its state.
var states = map[Phase]health.State{ //nolint:gochecknoglobals // A constant table.
	PhaseReady:   health.Ready,
	PhaseMissing: health.Ready,

	PhaseApplying:     health.Processing,
	PhaseHooksRunning: health.Processing,
	PhaseBlocked:      health.Processing,
	PhaseDrifted:      health.Processing,
	PhaseProgressing:  health.Processing,
	PhasePruning:      health.Processing,
	PhaseRemoving:     health.Processing,

	PhaseCeded:     health.Warning,
	PhaseChanged:   health.Warning,
	PhaseBroken:    health.Warning,
	PhaseTakenOver: health.Warning,
	PhaseContended: health.Warning,
	PhaseDegraded:  health.Warning,

	PhaseFailed:        health.Error,
	PhaseRetrying:      health.Error,
	PhaseHookFailed:    health.Error,
	PhaseUnreadable:    health.Error,
	PhaseUnhealthy:     health.Error,
	PhaseRemovalFailed: health.Error,

	PhaseTerminating: health.Deleting,
}

// State returns the state of a part in the phase.
func (p Phase) State() health.State { return states[p] }

// phaseOf returns the phase of a part that follows from the state of one of its objects.
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

// phaseOfFailure returns the phase of a part that the last step could not apply.
func phaseOfFailure(f inventory.Failure) Phase {
	if f.Transient {
		return PhaseRetrying
	}
	return PhaseFailed
}

// A finding is one observation about a part.
type finding struct {
	phase   Phase
	message string
}

// conclude returns the finding that determines the phase of a part: the first of the most urgent ones.
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

// works reports whether all objects exist and work, although other clients changed them or own some of their fields. It returns
// false if there is no such change.
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
