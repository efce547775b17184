// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/maintenance"
)

// precedence lists the states. A Kyma has the first of these states that any of its modules has.
var precedence = []v1alpha1.State{ //nolint:gochecknoglobals // Constant.
	v1alpha1.StateDeleting, v1alpha1.StateError, v1alpha1.StateWarning, v1alpha1.StateProcessing, v1alpha1.StateReady,
}

// isWorse reports whether one state has precedence over another.
func isWorse(a, b v1alpha1.State) bool {
	return slices.Index(precedence, a) < slices.Index(precedence, b)
}

// statusOf returns the status of a module according to its Manifest.
func statusOf(m *v1alpha1.Manifest) v1alpha1.ModuleStatus {
	at := &m.Status.AtProvider
	ready, synced := m.GetCondition(xpv2.TypeReady), m.GetCondition(xpv2.TypeSynced)
	out := v1alpha1.ModuleStatus{
		Name: m.Labels[v1alpha1.LabelModuleName], Version: runningVersion(m),
		Channel: m.Labels[v1alpha1.LabelChannel], Manifest: m.Name, State: at.State, Reason: string(ready.Reason), Message: at.Message,
	}
	if isRolledBack(m) {
		out.RolledBackFrom = m.Spec.ForProvider.Version
	}
	switch {
	case isBeingDeleted(m):
		setState(&out, v1alpha1.StateDeleting, xpv2.ReasonDeleting, at.Message)
	case at.State == v1alpha1.StateError, at.State == v1alpha1.StateWarning:
	case meta.IsPaused(m):
		// A paused Manifest is not reconciled, although Synced is written for each generation.
		setState(&out, v1alpha1.StateProcessing, v1alpha1.ReasonBlocked, fmt.Sprintf("Manifest %s is paused", m.Name))
	case synced.ObservedGeneration != m.Generation, synced.Reason == xpv2.ReasonReconcilePaused:
		// The status belongs to another spec, or to the time before the pause.
		setState(&out, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "")
	case at.State == v1alpha1.StateReady && synced.Status == corev1.ConditionFalse:
		// It was Ready, and its state can no longer be checked.
		setState(&out, v1alpha1.StateError, v1alpha1.ReasonBlocked, synced.Message)
	case ready.ObservedGeneration != 0 && ready.ObservedGeneration != m.Generation:
		// The reconcile that wrote Synced ended before it observed. An older provider wrote no generation.
		setState(&out, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "")
	case at.State == v1alpha1.StateReady && ready.Status != corev1.ConditionTrue, at.State == "", at.State == v1alpha1.StateDeleting:
		setState(&out, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, at.Message)
	}
	return out
}

// runningVersion returns the version that is running: the desired version of the Manifest, or the version that a rollback restored.
func runningVersion(m *v1alpha1.Manifest) string {
	if isRolledBack(m) {
		return cmp.Or(m.Status.AtProvider.Rollback.Version, m.Spec.ForProvider.Version)
	}
	return m.Spec.ForProvider.Version
}

// isRolledBack reports whether the upgrade to the desired version of a Manifest was rolled back.
func isRolledBack(m *v1alpha1.Manifest) bool {
	st := m.Status.AtProvider.Rollback
	return st != nil && st.RolledBack && m.GetCondition(xpv2.TypeSynced).ObservedGeneration == m.Generation
}

// setState sets the state of a module, with the reason and the message.
func setState(m *v1alpha1.ModuleStatus, state v1alpha1.State, reason xpv2.ConditionReason, message string) {
	m.State, m.Reason, m.Message = state, string(reason), conditions.Truncate(message, conditions.MaxMessage)
}

// report writes the modules to the status of a Kyma. Equal steps result in an equal status, which is not written to the API server.
func report(k *v1alpha1.Kyma, steps []step) {
	at := &k.Status.AtProvider
	at.Modules = listed(steps)
	ready, total := int32(0), int32(0)
	first := v1alpha1.ModuleStatus{State: v1alpha1.StateReady, Reason: string(xpv2.ReasonAvailable)}
	for i := range steps {
		s := &steps[i]
		if s.demand != unwanted {
			total++
			if s.status.State == v1alpha1.StateReady {
				ready++
			}
		}
		if isWorse(s.status.State, first.State) {
			first = s.status
		}
	}
	at.ModulesReady, at.ModuleCounts = fmt.Sprintf("%d/%d", ready, total), &v1alpha1.ModuleCounts{Ready: ready, Total: total}
	at.State, at.Message = first.State, summarize(first)
	setVerified(k, steps)
	switch {
	case meta.WasDeleted(k):
		at.State = v1alpha1.StateDeleting
	case at.State == v1alpha1.StateReady:
		at.ActiveChannel = cmp.Or(k.Spec.ForProvider.Channel, catalogue.DefaultChannel)
	}
	setReady(k, readyBy(first, meta.WasDeleted(k)).WithMessage(at.Message), steps)
}

// setReady sets the condition Ready of a Kyma, and its reason in status.atProvider. It also marks the Kyma as stalled if it is.
func setReady(k *v1alpha1.Kyma, ready xpv2.Condition, steps []step) {
	if k.Status.AtProvider.Stalled = stalledBy(k, steps); k.Status.AtProvider.Stalled == nil {
		conditions.ClearStalled(&k.Status.ConditionedStatus)
	} else {
		st := k.Status.AtProvider.Stalled
		conditions.MarkStalled(&k.Status.ConditionedStatus, k.Generation, xpv2.ConditionReason(st.Reason), st.Message)
	}
	setCondition(k, ready)
	k.Status.AtProvider.Reason = string(ready.Reason)
	k.Status.ObservedGeneration = k.Generation
}

// stalledBy returns why a Kyma is stalled: because of its first stalled module, or because of a maintenance window that is invalid. It
// returns nil if the Kyma is not stalled.
func stalledBy(k *v1alpha1.Kyma, steps []step) *v1alpha1.StalledStatus {
	if meta.WasDeleted(k) {
		return nil
	}
	if i := slices.IndexFunc(steps, func(s step) bool { return s.stalled && s.demand != unwanted }); i >= 0 {
		st := steps[i].status
		return &v1alpha1.StalledStatus{Reason: st.Reason, Message: summarize(st)}
	}
	if _, err := maintenance.Parse(k.Spec.ForProvider.MaintenanceWindows); err != nil {
		return &v1alpha1.StalledStatus{
			Reason: string(v1alpha1.ReasonBlocked), Message: conditions.Truncate("upgrades wait: "+err.Error(), conditions.MaxMessage),
		}
	}
	return nil
}

// isStalled reports whether a Manifest is stalled in its current generation. After a change, it might work again.
func isStalled(m *v1alpha1.Manifest) bool {
	c := m.GetCondition(v1alpha1.TypeStalled)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == m.Generation
}

// readyBy returns the condition Ready of a Kyma. first is the status of the module that determines it.
func readyBy(first v1alpha1.ModuleStatus, deleted bool) xpv2.Condition {
	c := xpv2.Unavailable()
	switch {
	case deleted:
		return xpv2.Deleting()
	case first.State == v1alpha1.StateReady:
		return xpv2.Available()
	case first.State == v1alpha1.StateDeleting:
		// The module is being removed, and the Kyma stays.
		c.Reason = v1alpha1.ReasonProgressing
	default:
		c.Reason = cmp.Or(xpv2.ConditionReason(first.Reason), c.Reason)
	}
	return c
}

// maxRemoved is the maximum number of modules being removed that the status lists, besides the modules that the Kyma has.
const maxRemoved = 64

// listed returns the statuses of the modules, up to the number that the API allows.
func listed(steps []step) []v1alpha1.ModuleStatus {
	var out []v1alpha1.ModuleStatus
	removed := 0
	for i := range steps {
		s := &steps[i]
		if s.demand == unwanted {
			removed++
		}
		if s.demand != unwanted || removed <= maxRemoved {
			out = append(out, s.status)
		}
	}
	return out
}

// setCondition sets a condition of a Kyma, for the generation that was reconciled.
func setCondition(k *v1alpha1.Kyma, c xpv2.Condition) {
	conditions.Reserve(&k.Status.ConditionedStatus, k.Generation)
	conditions.Mark(&k.Status.ConditionedStatus, k.Generation, c)
}

// summarize returns a message about the status of a module.
func summarize(m v1alpha1.ModuleStatus) string {
	if m.Name == "" {
		return ""
	}
	states := map[v1alpha1.State]string{v1alpha1.StateDeleting: "is being removed", v1alpha1.StateProcessing: "is being installed"}
	message := cmp.Or(m.Message, states[m.State], "is in state "+string(m.State))
	return conditions.Truncate(m.Name+": "+message, conditions.MaxMessage)
}

// setVerified sets the condition Verified of a Kyma from those of its Manifests. It removes the condition if no Manifest has one.
func setVerified(k *v1alpha1.Kyma, steps []step) {
	out := xpv2.Condition{}
	for i := range steps {
		if steps[i].live == nil {
			continue
		}
		switch c := steps[i].live.GetCondition(v1alpha1.TypeVerified); {
		case c.Status == "", c.Status == corev1.ConditionUnknown && c.Message == "", out.Status != "" && out.Status != corev1.ConditionTrue:
		case c.Status == corev1.ConditionTrue:
			out = verifiedCondition(corev1.ConditionTrue, v1alpha1.ReasonVerified, "")
		default:
			out = verifiedCondition(c.Status, c.Reason, conditions.Truncate(steps[i].status.Name+": "+c.Message, conditions.MaxMessage))
		}
	}
	if out.Status != "" {
		setCondition(k, out)
		return
	}
	k.Status.Conditions = slices.DeleteFunc(k.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == v1alpha1.TypeVerified })
}

// verifiedCondition returns a condition of the type Verified.
func verifiedCondition(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: v1alpha1.TypeVerified, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
	}
}
