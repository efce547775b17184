// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Condition returns the condition Ready for an observation, and whether the Manifest is stalled. at is the status of this
// observation, which contains the message.
func Condition(o *engine.Observation, at *v1alpha1.ManifestObservation) (c xpv2.Condition, stalled bool) {
	c = Not(reasonOf(o, at.Plan, at.Rollback), at.Message)
	if o.State == engine.Ready || o.Works {
		c.Status = corev1.ConditionTrue
		return c, false
	}
	return c, isStalled(c.Reason, o)
}

// isStalled reports whether a Manifest that is not Ready stays in this state until someone changes something. A Manifest whose
// fields were changed or ceded, or that waits for another object, can become Ready by itself.
func isStalled(reason xpv2.ConditionReason, o *engine.Observation) bool {
	if reason == v1alpha1.ReasonModuleFailed {
		return firstPhase(o) != engine.PhaseRetrying
	}
	// If a broken object has drifted, it is missing, and the drift policy only reports this.
	lasts := firstPhase(o) == engine.PhaseBroken || firstPhase(o) == engine.PhaseTakenOver
	return reason == v1alpha1.ReasonRolledBack || reason == v1alpha1.ReasonDrifted && lasts
}

// Not returns the condition Ready with the status False.
func Not(reason xpv2.ConditionReason, message string) xpv2.Condition {
	c := xpv2.Unavailable()
	c.Reason, c.Message = reason, message
	return c
}

// reasonOf returns the reason of the condition Ready for an observation. The plan is nil unless nothing is applied, and the
// rollback is nil unless an upgrade is being watched or was rolled back.
func reasonOf(o *engine.Observation, plan *v1alpha1.PlanStatus, back *v1alpha1.RollbackStatus) xpv2.ConditionReason {
	switch {
	case o.State == engine.Ready:
		return xpv2.ReasonAvailable
	case o.State == engine.Deleting:
		return xpv2.ReasonDeleting
	case o.State == engine.Error:
		return v1alpha1.ReasonModuleFailed
	case plan != nil && o.State == engine.Processing && (!o.Exists || !isEmptyPlan(plan)):
		return v1alpha1.ReasonPlanned
	case rollback.StateOf(back) == rollback.RolledBack:
		return v1alpha1.ReasonRolledBack
	case o.Works:
		return v1alpha1.ReasonDrifted
	}
	return reasonOfPhase(firstPhase(o), o.State)
}

// isEmptyPlan reports whether a plan has neither changes nor problems.
func isEmptyPlan(p *v1alpha1.PlanStatus) bool {
	return p.Create+p.Change+p.Prune+p.Problems == 0
}

// firstPhase returns the phase of the part that the message of an observation is about, or an empty one if it is about a part
// that the bundle no longer contains.
func firstPhase(o *engine.Observation) engine.Phase {
	i := slices.IndexFunc(o.Parts, func(p engine.PartState) bool { return p.State == o.State })
	if i < 0 {
		return ""
	}
	return o.Parts[i].Phase
}

// reasonOfPhase returns the reason for a part in a phase of the states Processing and Warning.
func reasonOfPhase(p engine.Phase, s engine.State) xpv2.ConditionReason {
	switch p {
	case engine.PhaseBlocked:
		return v1alpha1.ReasonBlocked
	case engine.PhaseDrifted, engine.PhaseCeded, engine.PhaseChanged, engine.PhaseBroken, engine.PhaseTakenOver, engine.PhaseContended:
		return v1alpha1.ReasonDrifted
	default:
		if s == engine.Warning {
			return xpv2.ReasonUnavailable
		}
		return v1alpha1.ReasonProgressing
	}
}
