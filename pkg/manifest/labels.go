// SPDX-License-Identifier: Apache-2.0

package manifest

// FieldManager is the name under which every field is applied.
const FieldManager = "provider-kyma"

// Labels and annotations of the ApplySet specification, KEP-3659.
const (
	LabelApplySetID                = "applyset.kubernetes.io/id"
	LabelPartOf                    = "applyset.kubernetes.io/part-of"
	AnnotationTooling              = "applyset.kubernetes.io/tooling"
	AnnotationContainsGroupKinds   = "applyset.kubernetes.io/contains-group-kinds"
	AnnotationAdditionalNamespaces = "applyset.kubernetes.io/additional-namespaces"

	// Tooling is the value of AnnotationTooling: a name and a version of the form of the inventory.
	Tooling = "provider-kyma/v1"
)

// LabelManagedBy is on each object that is installed, and on the inventory. Watches select by it.
const (
	LabelManagedBy = "operator.kyma-project.io/managed-by"
	ManagedBy      = "provider-kyma"
)

// DefaultNamespace holds the inventories of a cluster.
const DefaultNamespace = "kyma-system"

// AnnotationRecreate with the value "true" on an object that is installed lets it be deleted and created anew where a
// field that cannot be changed would have to change.
const AnnotationRecreate = "kyma.m.crossplane.io/recreate"

// AnnotationForceRemoval is named where objects of others block a removal. The engine does not read it: see
// Set.ForceRemoval.
const AnnotationForceRemoval = "kyma.m.crossplane.io/force-removal"
