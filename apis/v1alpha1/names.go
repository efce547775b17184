// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Labels of the original, which Manifests and what they install keep.
const (
	LabelKymaName       = "operator.kyma-project.io/kyma-name"
	LabelModuleName     = "operator.kyma-project.io/module-name"
	LabelChannel        = "operator.kyma-project.io/channel"
	LabelControllerName = "operator.kyma-project.io/controller-name"
	LabelManagedBy      = "operator.kyma-project.io/managed-by"
)

// ManagedBy is the value of LabelManagedBy.
const ManagedBy = "provider-kyma"

// Annotations that say what is meant.
const (
	// AnnotationAllowDowngrade allows a lower version. On a Kyma it names modules and versions, as in
	// "istio@1.2.0,serverless@1.0.3"; on a ModuleTemplate the version.
	AnnotationAllowDowngrade = "kyma.m.crossplane.io/allow-downgrade"

	// AnnotationAbandon with the value "true", on a Kyma or a Manifest that is being deleted, gives up what is left in a
	// cluster that cannot be reached any more.
	AnnotationAbandon = "kyma.m.crossplane.io/abandon"

	// AnnotationPlan with the value "true", on a Manifest or a Kyma, applies nothing and reports in the status what would
	// be done.
	AnnotationPlan = "kyma.m.crossplane.io/plan"

	// AnnotationRecreate with the value "true", on a Manifest or on an object that it installs, deletes an object and
	// creates it anew where a field that cannot be changed would have to change.
	AnnotationRecreate = "kyma.m.crossplane.io/recreate"

	// AnnotationForceRemoval with the value "true", on a Manifest or a Kyma that is being deleted, deletes the custom
	// resources of the module's own kinds that others made, which block the removal otherwise.
	AnnotationForceRemoval = "kyma.m.crossplane.io/force-removal"

	// AnnotationTest on a Manifest runs the tests of its charts once for each new value.
	AnnotationTest = "kyma.m.crossplane.io/test"

	// AnnotationPausedBy is on a Manifest that is paused because its Kyma is. The value is the name of the Kyma.
	AnnotationPausedBy = "kyma.m.crossplane.io/paused-by"

	// AnnotationPlannedBy is on a Manifest that is only planned because its Kyma is. The value is the name of the Kyma.
	AnnotationPlannedBy = "kyma.m.crossplane.io/planned-by"

	// AnnotationReleasedBy is on a Manifest that its Kyma has handed to the garbage collector, because it may not delete
	// Manifests itself. The value is the UID of the Kyma.
	AnnotationReleasedBy = "kyma.m.crossplane.io/released-by"
)

// Types of conditions besides Ready and Synced.
const (
	// TypeResolved is True on a ModuleTemplate whose component descriptor was read and can be installed.
	TypeResolved xpv2.ConditionType = "Resolved"

	// TypeVerified says whether a valid signature covers what is installed. It is there only where signatures are asked
	// for.
	TypeVerified xpv2.ConditionType = "Verified"

	// TypeRolledBack is True on a Manifest whose upgrade did not work, so that what was Ready before it was brought back.
	// It is there only then.
	TypeRolledBack xpv2.ConditionType = "RolledBack"
)

// Reasons of these conditions.
const (
	ReasonResolved      xpv2.ConditionReason = "Resolved"
	ReasonResolveFailed xpv2.ConditionReason = "ResolveFailed"
	ReasonInvalid       xpv2.ConditionReason = "InvalidDescriptor"
	ReasonDowngrade     xpv2.ConditionReason = "VersionLowered"
	ReasonAmbiguous     xpv2.ConditionReason = "AmbiguousChannel"
	ReasonVerified      xpv2.ConditionReason = "SignatureValid"
	ReasonUpgradeFailed xpv2.ConditionReason = "UpgradeFailed"
	ReasonNotVerified   xpv2.ConditionReason = "SignatureInvalid"
)
