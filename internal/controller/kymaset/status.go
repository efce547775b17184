// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

// maxFailures is the maximum number of failures in a status.
const maxFailures = 10

// setConditions sets the conditions of a KymaSet from the counts in its status, or from an error that concerns all of its clusters.
// stalled means that only a change of the KymaSet helps.
func setConditions(set *v1alpha1.KymaSet, failed error, stalled bool) {
	s := &set.Status
	synced, ready := xpv2.ReconcileSuccess(), readiness(s)
	if failed != nil {
		message := conditions.Truncate(failed.Error(), conditions.MaxMessage)
		synced = xpv2.ReconcileError(errors.New(message))
		ready = xpv2.Unavailable().WithMessage(message)
		ready.Reason = v1alpha1.ReasonBlocked
	}
	conditions.Mark(&s.ConditionedStatus, set.Generation, synced)
	conditions.MarkReady(&s.ConditionedStatus, set.Generation, ready, stalled)
	s.ObservedGeneration = set.Generation
}

// setDeleting sets the condition Ready of a KymaSet that is being deleted.
func setDeleting(set *v1alpha1.KymaSet, left int) {
	c := xpv2.Deleting().WithMessage(fmt.Sprintf("%d clusters still have a Kyma or a ProviderConfig of the KymaSet", left))
	conditions.MarkReady(&set.Status.ConditionedStatus, set.Generation, c, false)
	set.Status.ObservedGeneration = set.Generation
}

// readiness returns the condition Ready for the counts in a status.
func readiness(s *v1alpha1.KymaSetStatus) xpv2.Condition {
	ready := xpv2.Available().WithMessage(fmt.Sprintf("the Kymas of %d clusters are Ready", s.Clusters))
	switch {
	case s.Failed > 0 && len(s.Failures) > 0:
		f := s.Failures[0]
		ready.Status, ready.Reason = corev1.ConditionFalse, v1alpha1.ReasonModuleFailed
		ready.Message = conditions.Truncate(fmt.Sprintf("%d of %d clusters failed; first %s/%s: %s",
			s.Failed, s.Clusters, f.Namespace, f.Name, f.Message), conditions.MaxMessage)
	case s.Applied < s.Clusters:
		ready.Status, ready.Reason = corev1.ConditionFalse, v1alpha1.ReasonProgressing
		ready.Message = fmt.Sprintf("the template is applied to %d of %d clusters", s.Applied, s.Clusters)
	case s.Ready < s.Clusters:
		ready.Status, ready.Reason = corev1.ConditionFalse, v1alpha1.ReasonProgressing
		ready.Message = fmt.Sprintf("the Kymas of %d of %d clusters are Ready", s.Ready, s.Clusters)
	}
	return ready
}

// eventOf returns the event for the difference between two states of a KymaSet, if there is one. Only another reason is an event,
// because counts change often.
func eventOf(before, after *v1alpha1.KymaSetStatus) (event.Event, bool) {
	was, is := before.GetCondition(xpv2.TypeReady), after.GetCondition(xpv2.TypeReady)
	if was.Reason == is.Reason {
		return event.Event{}, false
	}
	if is.Reason == v1alpha1.ReasonBlocked || is.Reason == v1alpha1.ReasonModuleFailed {
		return event.Warning(event.Reason(is.Reason), errors.New(is.Message)), true
	}
	return event.Normal(event.Reason(is.Reason), is.Message), is.Reason == xpv2.ReasonAvailable
}
