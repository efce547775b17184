// SPDX-License-Identifier: Apache-2.0

package manifest

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"

// These labels and annotations are part of the ApplySet specification, KEP-3659.
const (
	LabelApplySetID                = object.LabelApplySetID
	LabelPartOf                    = object.LabelPartOf
	AnnotationTooling              = object.AnnotationTooling
	AnnotationContainsGroupKinds   = object.AnnotationContainsGroupKinds
	AnnotationAdditionalNamespaces = object.AnnotationAdditionalNamespaces
)

// LabelManagedBy is a label of the inventory and of each object that the engine installs. Its value is Identity.ManagedBy.
const LabelManagedBy = object.LabelManagedBy

// DefaultNamespace is the default namespace of inventories.
const DefaultNamespace = "kyma-system"

// AnnotationRecreate is an annotation of an installed object. With the value "true", it allows the engine to delete the object
// and create it again if an immutable field has to change.
const AnnotationRecreate = object.AnnotationRecreate
