// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// MaxMessage is the maximum length of a message in a status, in bytes.
const MaxMessage = 1024

// Truncate truncates a message to a maximum length in bytes. It does not split a character: the API server would replace an
// incomplete character, and the message would differ each time.
func Truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// Mark sets conditions of an object with the generation that was reconciled, because kubectl wait ignores conditions of an
// older generation. Only a change of the status, reason or message is a transition: a condition that merely holds for a new
// generation keeps its time.
//
// Mark sorts Ready last, because Argo CD uses the first of Synced and Ready that determines a health.
func Mark(s *xpv2.ConditionedStatus, generation int64, conditions ...xpv2.Condition) {
	for _, c := range conditions {
		c.ObservedGeneration = generation
		i := slices.IndexFunc(s.Conditions, func(have xpv2.Condition) bool { return have.Type == c.Type })
		if i < 0 {
			s.Conditions = append(s.Conditions, c)
			continue
		}
		if have := s.Conditions[i]; have.Status == c.Status && have.Reason == c.Reason && have.Message == c.Message {
			c.LastTransitionTime = have.LastTransitionTime
		}
		// SetConditions would keep a condition without a generation, which an older provider wrote.
		s.Conditions[i] = c
	}
	slices.SortStableFunc(s.Conditions, func(a, b xpv2.Condition) int { return rank(a) - rank(b) })
}

// MarkReady sets the condition Ready in the same way as Mark. If stalled is true, it also calls MarkStalled with the reason and
// the message of Ready. Otherwise, it calls ClearStalled.
func MarkReady(s *xpv2.ConditionedStatus, generation int64, ready xpv2.Condition, stalled bool) {
	if stalled {
		MarkStalled(s, generation, ready.Reason, ready.Message)
	} else {
		ClearStalled(s)
	}
	Mark(s, generation, ready)
}

// Reserve adds the condition Synced if there is none. The managed reconciler sets it at the end of each reconcile, and would otherwise add
// it after Ready, so that the next reconcile had to write the status only to sort it. Call it before you set Ready for the first time.
func Reserve(s *xpv2.ConditionedStatus, generation int64) {
	if !slices.ContainsFunc(s.Conditions, func(c xpv2.Condition) bool { return c.Type == xpv2.TypeSynced }) {
		Mark(s, generation, xpv2.ReconcileSuccess())
	}
}

// MarkStalled sets the condition Stalled to True and the condition LastAsyncOperation to False in the same way as Mark.
func MarkStalled(s *xpv2.ConditionedStatus, generation int64, reason xpv2.ConditionReason, message string) {
	c := xpv2.Condition{
		Type: v1alpha1.TypeStalled, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
	}
	failed := c
	failed.Type, failed.Status = v1alpha1.TypeLastAsyncOperation, corev1.ConditionFalse
	Mark(s, generation, c, failed)
}

// ClearStalled removes the conditions Stalled and LastAsyncOperation.
func ClearStalled(s *xpv2.ConditionedStatus) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c xpv2.Condition) bool {
		return c.Type == v1alpha1.TypeStalled || c.Type == v1alpha1.TypeLastAsyncOperation
	})
}

// rank returns the position of a condition in a list.
func rank(c xpv2.Condition) int {
	if c.Type == xpv2.TypeReady {
		return 1
	}
	return 0
}
