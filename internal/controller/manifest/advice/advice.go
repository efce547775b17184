// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Messages returns the engine's advice for users of a Manifest.
func Messages() engine.Messages {
	return engine.Messages{
		Adopt:        "set adoption: Adopt",
		ForceRemoval: "set annotation " + v1alpha1.AnnotationForceRemoval + `: "true" on the Manifest`,
		Recreate:     "set immutableFields: Recreate, or annotation " + engine.AnnotationRecreate + `: "true" on the object in the chart`,
		OmitResource: "set customResourcePolicy: Ignore",
		Rename:       "choose another external name",
		MoveTo:       "set annotation " + v1alpha1.AnnotationClusterChanged + " of the Manifest to",
		TakeOver:     "start the provider with --take-over-control-plane",
	}
}
