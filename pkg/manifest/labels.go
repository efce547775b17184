// SPDX-License-Identifier: Apache-2.0

package manifest

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"

// Labels and annotations of the ApplySet specification, KEP-3659.
const (
	LabelApplySetID                = object.LabelApplySetID
	LabelPartOf                    = object.LabelPartOf
	AnnotationTooling              = object.AnnotationTooling
	AnnotationContainsGroupKinds   = object.AnnotationContainsGroupKinds
	AnnotationAdditionalNamespaces = object.AnnotationAdditionalNamespaces
)

// LabelManagedBy is on the inventory and on each object that the engine installs. Its value is Identity.ManagedBy.
const LabelManagedBy = object.LabelManagedBy

// DefaultNamespace holds the inventories of a cluster.
const DefaultNamespace = "kyma-system"

// AnnotationRecreate with the value "true" on an installed object allows the engine to delete the object and create it again
// where an immutable field would have to change.
const AnnotationRecreate = object.AnnotationRecreate
