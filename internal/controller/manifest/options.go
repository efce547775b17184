// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// driftPolicy of a Manifest.
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

// retryToken of a Manifest: a new token runs hooks that failed once more.
func retryToken(mr *v1alpha1.Manifest) string {
	return cut(mr.Annotations[meta.AnnotationKeyReconcileRequestedAt])
}
