// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// isDetached reports whether the objects of a Manifest stay in the cluster when it is deleted.
func isDetached(m *v1alpha1.Manifest) bool { return m.Annotations[v1alpha1.AnnotationDetach] == "true" }

// planUnmanaged plans the step for a module that is not managed. Its Manifest is deleted, and detaches the objects. The module then counts
// as Ready, because nothing is known about its objects. Whether its ModuleTemplate exists does not matter.
func planUnmanaged(p *planner, s step, m *v1alpha1.Module) step {
	s.status = v1alpha1.ModuleStatus{State: v1alpha1.StateReady, Reason: string(v1alpha1.ReasonUnmanaged)}
	before := p.kyma.Status.AtProvider.Modules
	if i := slices.IndexFunc(before, func(b v1alpha1.ModuleStatus) bool { return b.Name == m.Name }); i >= 0 {
		s.status.Version, s.status.Channel = before[i].Version, before[i].Channel
	}
	if s.live != nil {
		s.status = statusOf(s.live)
	}
	s.status.Name = m.Name
	if s.live != nil {
		planDetach(p, &s)
	}
	return s
}

// planDetach plans to delete the live Manifest and to leave its objects in the cluster.
func planDetach(p *planner, s *step) {
	switch message := s.status.Message; {
	case s.status.State == v1alpha1.StateDeleting && isDetached(s.live):
		setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, strings.TrimSuffix(
			"the module is no longer managed once its objects have no labels of the provider: "+message, ": "))
		return
	case s.status.State == v1alpha1.StateDeleting:
		setState(&s.status, s.status.State, xpv2.ConditionReason(s.status.Reason), strings.TrimSuffix("the module is being removed: "+message, ": "))
		return
	case s.planned:
		setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonPlanned, "plan only, nothing is applied: the module would no longer be managed")
		return
	}
	in := p.intent
	in.detach = true
	s.desired, s.action, s.stalled = desiredManifest(p.kyma, in, nil, s.live), actionDelete, false
	setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "the module is no longer managed once its objects have no labels of the provider")
}
