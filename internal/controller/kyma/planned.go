// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// planned says that a Kyma is only planned: its Manifests say what they would do, and none is removed. A Kyma that is
// being deleted is not planned any more.
func planned(k *v1alpha1.Kyma) bool {
	return !meta.WasDeleted(k) && k.Annotations[v1alpha1.AnnotationPlan] == "true"
}

// plannedBy are the annotations of a Manifest that is only planned because its Kyma is.
func plannedBy(k *v1alpha1.Kyma) map[string]string {
	return map[string]string{v1alpha1.AnnotationPlan: "true", v1alpha1.AnnotationPlannedBy: k.Name}
}

// carriedOut says whether a Manifest is only planned because its Kyma was, and no longer is. A plan that a person asked for
// on the Manifest stays one. It is told in the same write as what is wanted now: what was planned may be no longer wanted,
// and must not be applied for a moment.
func carriedOut(live, wanted *v1alpha1.Manifest) bool {
	return live.Annotations[v1alpha1.AnnotationPlannedBy] != "" && wanted.Annotations[v1alpha1.AnnotationPlan] != "true"
}

// carryOut what a Manifest is, where nothing else is to be changed: it is what is installed.
func (p *planner) carryOut(s *step) {
	if s.action != leave || s.live == nil || planned(p.kyma) || s.live.Annotations[v1alpha1.AnnotationPlannedBy] == "" ||
		s.live.Spec.ForProvider.Version != s.live.Status.AtProvider.Version {
		return
	}
	s.action, s.wanted = correct, s.live.DeepCopy()
	meta.RemoveAnnotations(s.wanted, v1alpha1.AnnotationPlannedBy, v1alpha1.AnnotationPlan)
}

// installedVersion of a Manifest; empty where nothing is installed. What is only planned is not installed.
func installedVersion(m *v1alpha1.Manifest) string {
	if m.Annotations[v1alpha1.AnnotationPlan] == "true" {
		return m.Status.AtProvider.Version
	}
	return m.Spec.ForProvider.Version
}
