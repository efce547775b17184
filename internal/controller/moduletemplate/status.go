// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// hasCondition reports whether a template has a condition.
func hasCondition(t *v1alpha1.ModuleTemplate, c xpv2.ConditionType) bool {
	return slices.ContainsFunc(t.Status.Conditions, func(have xpv2.Condition) bool { return have.Type == c })
}

// setResolution sets a resolution in the status.
func setResolution(t *v1alpha1.ModuleTemplate, r *module.Resolution) {
	s := &t.Status
	s.ResolvedGeneration = t.Generation
	s.ModuleName, s.Version, s.Digest = r.ModuleName, r.Version, r.Digest
	s.Resources, s.Data = r.Resources, r.Data
	setResolved(t)
}

// setResolved sets the condition Resolved for the resolution in the status.
func setResolved(t *v1alpha1.ModuleTemplate) {
	setCondition(t, corev1.ConditionTrue, v1alpha1.ReasonResolved, fmt.Sprintf("module %s version %s", t.Status.ModuleName, t.Status.Version))
}

// refuse sets the condition Resolved to False. The resolution that the template had stays in the status.
func refuse(t *v1alpha1.ModuleTemplate, why xpv2.ConditionReason, message string) {
	setCondition(t, corev1.ConditionFalse, why, message)
}

func setCondition(t *v1alpha1.ModuleTemplate, s corev1.ConditionStatus, why xpv2.ConditionReason, message string) {
	conditions.Mark(&t.Status.ConditionedStatus, t.Generation, xpv2.Condition{
		Type: v1alpha1.TypeResolved, Status: s, Reason: why, Message: conditions.Truncate(message, conditions.MaxMessage), LastTransitionTime: metav1.Now(),
	})
}

// setReady sets the condition Ready: a template can be used if it is resolved and, if the provider has keys, signed. It sets
// nothing until the generation has a condition Resolved.
func setReady(t *v1alpha1.ModuleTemplate) {
	resolved := t.Status.GetCondition(v1alpha1.TypeResolved)
	if resolved.ObservedGeneration != t.Generation {
		return
	}
	ready := xpv2.Available().WithMessage(resolved.Message)
	worst := resolved
	if resolved.Status == corev1.ConditionTrue && hasCondition(t, v1alpha1.TypeVerified) {
		worst = t.Status.GetCondition(v1alpha1.TypeVerified)
	}
	if worst.Status != corev1.ConditionTrue {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, worst.Reason, worst.Message
	}
	// ResolveFailed can disappear without a change, when the registry is reachable again.
	stalled := worst.Status == corev1.ConditionFalse && worst.Reason != v1alpha1.ReasonResolveFailed
	conditions.MarkReady(&t.Status.ConditionedStatus, t.Generation, ready, stalled)
	t.Status.ObservedGeneration = t.Generation
}

// ambiguityMessage returns a message that names the other templates of the same module and channel.
func ambiguityMessage(t *v1alpha1.ModuleTemplate, others []string) string {
	return fmt.Sprintf("module %q in channel %q is also provided by ModuleTemplate %s, so none of them is used: delete all but one, "+
		"or change their channels", module.NameOf(t), t.Spec.Channel, strings.Join(others, " and ModuleTemplate "))
}

// eventsOf returns the events for the differences between two states of a template.
func eventsOf(before, after *v1alpha1.ModuleTemplate) []event.Event {
	var out []event.Event
	was, is := before.Status.GetCondition(v1alpha1.TypeResolved), after.Status.GetCondition(v1alpha1.TypeResolved)
	switch {
	case is.Status == corev1.ConditionFalse:
		if was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message {
			out = append(out, event.Warning(event.Reason(is.Reason), errors.New(is.Message)))
		}
	case before.Status.Version != after.Status.Version || before.Status.Digest != after.Status.Digest:
		out = append(out, event.Normal(event.Reason(is.Reason), fmt.Sprintf("Module %s resolved to version %s, digest %s",
			after.Status.ModuleName, after.Status.Version, after.Status.Digest)))
	}
	was, is = before.Status.GetCondition(v1alpha1.TypeVerified), after.Status.GetCondition(v1alpha1.TypeVerified)
	if is.Status == corev1.ConditionFalse && (was.Status != is.Status || was.Message != is.Message) {
		out = append(out, event.Warning(event.Reason(is.Reason), errors.New(is.Message)))
	}
	return out
}
