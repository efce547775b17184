// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// driftPolicy converts the drift policy of a Manifest to that of the engine.
func driftPolicy(p v1alpha1.DriftPolicy) manifest.DriftPolicy {
	switch p {
	case v1alpha1.DriftPolicyReport:
		return manifest.DriftReport
	case v1alpha1.DriftPolicyIgnore:
		return manifest.DriftIgnore
	case v1alpha1.DriftPolicyRepair:
	}
	return manifest.DriftRepair
}

// options returns the options of the engine calls for a choice: the requests in the annotations of the Manifest, and whether
// to keep or restore a checkpoint.
func (c *choice) options(mr *v1alpha1.Manifest) []manifest.CallOption {
	out := []manifest.CallOption{
		manifest.WithRetryToken(conditions.Truncate(mr.Annotations[meta.AnnotationKeyReconcileRequestedAt], conditions.MaxMessage)),
		manifest.WithTestToken(conditions.Truncate(mr.Annotations[v1alpha1.AnnotationTest], conditions.MaxMessage)),
		manifest.WithRedactor(c.report.redactor.Text),
		manifest.WithCheckpoint(c.keep),
	}
	if asked(mr, v1alpha1.AnnotationForceRemoval) {
		out = append(out, manifest.ForceRemoval())
	}
	if asked(mr, v1alpha1.AnnotationDeleteAdopted) {
		out = append(out, manifest.DeleteAdopted())
	}
	if c.bringsBack() {
		out = append(out, manifest.AsRollback())
	}
	return out
}
