// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
)

// maxMessage bounds a message in the status, in bytes.
const maxMessage = 1024

// precedence of the states: the first that applies is shown.
var precedence = []v1alpha1.State{ //nolint:gochecknoglobals // Constant.
	v1alpha1.StateDeleting, v1alpha1.StateError, v1alpha1.StateWarning, v1alpha1.StateProcessing, v1alpha1.StateReady,
}

// worse says whether one state comes before another.
func worse(a, b v1alpha1.State) bool {
	return slices.Index(precedence, a) < slices.Index(precedence, b)
}

// statusOf a Manifest, as that of its module.
func statusOf(m *v1alpha1.Manifest) v1alpha1.ModuleStatus {
	at := &m.Status.AtProvider
	out := v1alpha1.ModuleStatus{
		Name: m.Labels[v1alpha1.LabelModuleName], Version: m.Spec.ForProvider.Version,
		Channel: m.Labels[v1alpha1.LabelChannel], Manifest: m.Name, State: at.State, Message: at.Message,
	}
	ready, synced := m.GetCondition(xpv2.TypeReady), m.GetCondition(xpv2.TypeSynced)
	switch {
	case onItsWayOut(m):
		out.State = v1alpha1.StateDeleting
	case at.State == v1alpha1.StateError, at.State == v1alpha1.StateWarning:
	case meta.IsPaused(m):
		// Nobody looks at it, though Synced is said of each of its generations.
		out.State, out.Message = v1alpha1.StateProcessing, fmt.Sprintf("Manifest %s is paused", m.Name)
	case synced.ObservedGeneration != m.Generation, synced.Reason == xpv2.ReasonReconcilePaused:
		// What the status says is of another spec, or of before the pause.
		out.State, out.Message = v1alpha1.StateProcessing, ""
	case at.State == v1alpha1.StateReady && synced.Status == corev1.ConditionFalse:
		// What was Ready once cannot be checked any more.
		out.State, out.Message = v1alpha1.StateError, cut(synced.Message)
	case ready.ObservedGeneration != 0 && ready.ObservedGeneration != m.Generation:
		// The pass that Synced is of ended before the look. An older provider wrote no generation.
		out.State, out.Message = v1alpha1.StateProcessing, ""
	case at.State == v1alpha1.StateReady && ready.Status != corev1.ConditionTrue, at.State == "":
		out.State = v1alpha1.StateProcessing
	case at.State == v1alpha1.StateDeleting:
		out.State = v1alpha1.StateProcessing
	}
	return out
}

// report what becomes of the modules in the status. Equal modules make equal statuses, so that nothing is written.
func report(k *v1alpha1.Kyma, steps []step) {
	at := &k.Status.AtProvider
	at.Modules = nil
	at.State = v1alpha1.StateReady
	ready, total := 0, 0
	first := v1alpha1.ModuleStatus{State: v1alpha1.StateReady}
	for i := range steps {
		s := &steps[i]
		at.Modules = append(at.Modules, s.status)
		if s.enabled {
			total++
			if s.status.State == v1alpha1.StateReady {
				ready++
			}
		}
		if worse(s.status.State, first.State) {
			first = s.status
		}
	}
	at.ModulesReady = fmt.Sprintf("%d/%d", ready, total)
	at.State, at.Message = first.State, summary(first)
	verified(k, steps)
	if meta.WasDeleted(k) {
		at.State = v1alpha1.StateDeleting
		mark(k, xpv2.Deleting().WithMessage(at.Message))
		return
	}
	if at.State == v1alpha1.StateReady {
		at.ActiveChannel = k.Spec.ForProvider.Channel
		if at.ActiveChannel == "" {
			at.ActiveChannel = defaultChannel
		}
		mark(k, xpv2.Available())
		return
	}
	mark(k, xpv2.Unavailable().WithMessage(at.Message))
}

// mark conditions of a Kyma, as seen of the generation that this pass is about.
func mark(k *v1alpha1.Kyma, c xpv2.Condition) {
	settings.Mark(&k.Status.ConditionedStatus, k.Generation, c)
	if c.Type == xpv2.TypeReady {
		k.Status.ObservedGeneration = k.Generation
	}
}

// summary of the module to look at first.
func summary(m v1alpha1.ModuleStatus) string {
	if m.Name == "" {
		return ""
	}
	message := m.Message
	if message == "" {
		switch m.State {
		case v1alpha1.StateDeleting:
			message = "is being removed"
		case v1alpha1.StateProcessing:
			message = "is being installed"
		default:
			message = "is in state " + string(m.State)
		}
	}
	return cut(m.Name + ": " + message)
}

// verified sums up the conditions of the Manifests on signatures. There is none where no Manifest has one.
func verified(k *v1alpha1.Kyma, steps []step) {
	found, failed := false, xpv2.Condition{}
	for i := range steps {
		if steps[i].live == nil {
			continue
		}
		c := steps[i].live.GetCondition(v1alpha1.TypeVerified)
		if c.Status == "" || c.Status == corev1.ConditionUnknown && c.Message == "" {
			continue
		}
		found = true
		if c.Status != corev1.ConditionTrue && failed.Status == "" {
			failed = c
			failed.Message = cut(steps[i].status.Name + ": " + c.Message)
		}
	}
	switch {
	case !found:
		k.Status.Conditions = slices.DeleteFunc(k.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == v1alpha1.TypeVerified })
	case failed.Status != "":
		mark(k, condition(failed.Status, failed.Reason, failed.Message))
	default:
		mark(k, condition(corev1.ConditionTrue, v1alpha1.ReasonVerified, ""))
	}
}

func condition(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: v1alpha1.TypeVerified, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
	}
}

func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	// Half a character would never be equal to what the API server makes of it.
	return strings.ToValidUTF8(s[:maxMessage-len("…")], "") + "…"
}
