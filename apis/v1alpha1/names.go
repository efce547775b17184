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

	// AnnotationPausedBy is on a Manifest that is paused because its Kyma is. The value is the name of the Kyma.
	AnnotationPausedBy = "kyma.m.crossplane.io/paused-by"

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
)

// Reasons of these conditions.
const (
	ReasonResolved      xpv2.ConditionReason = "Resolved"
	ReasonResolveFailed xpv2.ConditionReason = "ResolveFailed"
	ReasonInvalid       xpv2.ConditionReason = "InvalidDescriptor"
	ReasonDowngrade     xpv2.ConditionReason = "VersionLowered"
	ReasonAmbiguous     xpv2.ConditionReason = "AmbiguousChannel"
	ReasonVerified      xpv2.ConditionReason = "SignatureValid"
	ReasonNotVerified   xpv2.ConditionReason = "SignatureInvalid"
)
