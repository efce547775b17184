// SPDX-License-Identifier: Apache-2.0

package manifest

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"

// FieldManager is the field manager of everything that the engine applies.
const FieldManager = object.FieldManager

// Labels and annotations of the ApplySet specification, KEP-3659.
const (
	LabelApplySetID                = object.LabelApplySetID
	LabelPartOf                    = object.LabelPartOf
	AnnotationTooling              = object.AnnotationTooling
	AnnotationContainsGroupKinds   = object.AnnotationContainsGroupKinds
	AnnotationAdditionalNamespaces = object.AnnotationAdditionalNamespaces

	// Tooling is the value of AnnotationTooling: a name, and the version of the format of the inventory.
	Tooling = object.Tooling
)

// LabelManagedBy is on the inventory and on each object that the engine installs. Watches select by it.
const (
	LabelManagedBy = object.LabelManagedBy
	ManagedBy      = object.ManagedBy
)

// DefaultNamespace holds the inventories of a cluster.
const DefaultNamespace = "kyma-system"

// AnnotationRecreate with the value "true" on an installed object allows the engine to delete the object and create it again
// where an immutable field would have to change.
const AnnotationRecreate = object.AnnotationRecreate
