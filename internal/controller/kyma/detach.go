// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// isUnmanaged reports whether the objects of a module stay in the cluster without being managed.
func isUnmanaged(m *v1alpha1.Module) bool { return m.Managed != nil && !*m.Managed }

// isDetached reports whether the objects of a Manifest stay in the cluster when it is deleted.
func isDetached(m *v1alpha1.Manifest) bool { return m.Annotations[v1alpha1.AnnotationDetach] == "true" }

// isLeft reports whether the objects of a Manifest stay in the cluster because its Kyma, which is being deleted, does not manage the module. The Kyma
// can be deleted before the Manifest is detached.
func isLeft(k *v1alpha1.Kyma, m *v1alpha1.Manifest) bool {
	name := moduleOf(k, m)
	mandatory := func(s v1alpha1.ModuleStatus) bool {
		return s.Name == name && s.Origin == v1alpha1.ModuleOriginMandatory
	}
	return meta.WasDeleted(k) && !slices.ContainsFunc(k.Status.AtProvider.Modules, mandatory) &&
		slices.ContainsFunc(k.Spec.ForProvider.Modules, func(o v1alpha1.Module) bool { return o.Name == name && isUnmanaged(&o) })
}

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
