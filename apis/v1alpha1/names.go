// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Labels of the original that Manifests and installed objects keep.
const (
	LabelKymaName       = "operator.kyma-project.io/kyma-name"
	LabelModuleName     = "operator.kyma-project.io/module-name"
	LabelChannel        = "operator.kyma-project.io/channel"
	LabelControllerName = "operator.kyma-project.io/controller-name"
	LabelManagedBy      = "operator.kyma-project.io/managed-by"
)

// LabelShard on a ProviderConfig or a ClusterProviderConfig is the number of its shard, if the provider runs with several shards.
// Otherwise, its shard is derived from its name.
const LabelShard = "kyma.m.crossplane.io/shard"

// ManagedBy is the value of LabelManagedBy.
const ManagedBy = "provider-kyma"

// Annotations that users and the provider set.
const (
	// AnnotationAllowDowngrade allows a lower version. On a Kyma it names modules and versions, as in
	// "istio@1.2.0,serverless@1.0.3"; on a ModuleReleaseMeta channels and versions, as in "regular@1.2.0"; on a ModuleTemplate
	// the version.
	AnnotationAllowDowngrade = "kyma.m.crossplane.io/allow-downgrade"

	// AnnotationAbandon with the value "true", on a Kyma or a Manifest that is being deleted, orphans everything in a
	// cluster that is permanently unreachable.
	AnnotationAbandon = "kyma.m.crossplane.io/abandon"

	// AnnotationForceRemoval with the value "true", on a Manifest or a Kyma that is being deleted, deletes the remaining
	// custom resources of the kinds of the module, which otherwise block the removal.
	AnnotationForceRemoval = "kyma.m.crossplane.io/force-removal"

	// AnnotationDeleteAdopted with the value "true" on a Manifest, or on a Kyma that is being deleted, deletes Namespaces, CRDs
	// and volumes that existed before the module adopted them. Otherwise, they stay in the cluster.
	AnnotationDeleteAdopted = "kyma.m.crossplane.io/delete-adopted"

	// AnnotationDetach with the value "true" on a Manifest that is being deleted detaches its objects: they stay in the cluster
	// without the labels of the provider. A Manifest with the same name manages them again. A Kyma sets it for a module whose
	// managed is false.
	AnnotationDetach = "kyma.m.crossplane.io/detach"

	// AnnotationClusterChanged on a Manifest or a Kyma allows the Manifest to continue in a different cluster than the one that
	// it is installed in. The value is the UID of the kube-system namespace of the other cluster.
	AnnotationClusterChanged = "kyma.m.crossplane.io/cluster-changed"

	// AnnotationTest on a Manifest runs the tests of its charts once for each new value.
	AnnotationTest = "kyma.m.crossplane.io/test"

	// AnnotationPausedBy marks a Manifest that is paused because its Kyma is paused. The value is the name of the Kyma.
	AnnotationPausedBy = "kyma.m.crossplane.io/paused-by"

	// AnnotationUpgradeNow on a Kyma allows upgrades outside of its maintenance windows and before the end of a deferral, such as
	// for a security fix. The value is the reason.
	AnnotationUpgradeNow = "kyma.m.crossplane.io/upgrade-now"

	// AnnotationReleasedBy marks a Manifest that its Kyma handed over to the garbage collector, because the provider is
	// not allowed to delete Manifests. The value is the UID of the Kyma.
	AnnotationReleasedBy = "kyma.m.crossplane.io/released-by"
)

// The marks of the objects of a KymaSet: of Kymas, and of the ProviderConfigs of Clusters of Cluster API.
const (
	// LabelKymaSet is the name of the KymaSet that manages an object. Users can set it on a Kyma or a ProviderConfig with the name of
	// a cluster, so that the KymaSet takes it over.
	LabelKymaSet = "kyma.m.crossplane.io/kyma-set"

	// AnnotationKymaSetUID is the UID of the KymaSet that applied an object. A KymaSet only removes objects with its own UID.
	AnnotationKymaSetUID = "kyma.m.crossplane.io/kyma-set-uid"

	// AnnotationKymaSetDigest identifies what the KymaSet applied.
	AnnotationKymaSetDigest = "kyma.m.crossplane.io/kyma-set-digest"
)

// Types of conditions other than Ready and Synced.
const (
	// TypeResolved is True on a ModuleTemplate if its component descriptor was read and can be installed.
	TypeResolved xpv2.ConditionType = "Resolved"

	// TypeVerified reports whether a valid signature covers what is installed. It is set only if signatures are required.
	TypeVerified xpv2.ConditionType = "Verified"

	// TypeReachable reports on a ProviderConfig or a ClusterProviderConfig whether its API server can be used. It is set while
	// a resource uses the config.
	TypeReachable xpv2.ConditionType = "Reachable"

	// TypeRolledBack is True on a Manifest after a failed upgrade was rolled back to the last known good revision. It is
	// set only then.
	TypeRolledBack xpv2.ConditionType = "RolledBack"

	// TypeStalled is True while an object cannot become Ready until someone changes something, because retries alone do not
	// help. It has the reason and the message of Ready. Otherwise, the condition is not set.
	TypeStalled xpv2.ConditionType = "Stalled"

	// TypeProgressing is True on a ModuleReleaseMeta while Kymas change to a version, or back to the previous one.
	TypeProgressing xpv2.ConditionType = "Progressing"

	// TypePaused is True on a ModuleReleaseMeta while a rollout is paused.
	TypePaused xpv2.ConditionType = "Paused"

	// TypeFailed is True on a ModuleReleaseMeta after a rollout failed.
	TypeFailed xpv2.ConditionType = "Failed"

	// TypeComplete is True on a ModuleReleaseMeta if all rollouts are complete.
	TypeComplete xpv2.ConditionType = "Complete"

	// TypeLastAsyncOperation is False exactly while TypeStalled is True, with the same reason and message. Otherwise, the
	// condition is not set. The rule of Argo CD for *.crossplane.io does not know Stalled, but reports an object with this
	// condition, which is the one of providers that are based on Upjet, as Degraded.
	TypeLastAsyncOperation xpv2.ConditionType = "LastAsyncOperation"
)

// Reasons of the condition Ready of a Kyma and a Manifest, besides Available, Creating, Deleting and Unavailable of
// Crossplane.
const (
	// ReasonProgressing means that a module is being installed, changed or removed, or that objects are not ready yet.
	ReasonProgressing xpv2.ConditionReason = "Progressing"

	// ReasonModuleFailed means that something could not be applied or removed, or that an object has failed.
	ReasonModuleFailed xpv2.ConditionReason = "ModuleFailed"

	// ReasonDrifted means that other clients changed or deleted objects, or own fields of them, and that this is not
	// repaired (yet). Ready is True on a Manifest whose objects all exist and work nevertheless.
	ReasonDrifted xpv2.ConditionReason = "Drifted"

	// ReasonRolledBack means that the last known good revision is running, or being restored, instead of the desired one.
	ReasonRolledBack xpv2.ConditionReason = "RolledBack"

	// ReasonDowngradeBlocked means that the channel of a module has a lower version than the one that is installed.
	ReasonDowngradeBlocked xpv2.ConditionReason = "DowngradeBlocked"

	// ReasonPlanned means that there is something to do, which is only planned.
	ReasonPlanned xpv2.ConditionReason = "Planned"

	// ReasonWrongCluster means that the ProviderConfig points to a different cluster than the one that the module is installed
	// in. Nothing is changed in either cluster. The condition Reachable of the
	// ProviderConfig then has the same reason.
	ReasonWrongCluster xpv2.ConditionReason = "WrongCluster"

	// ReasonBlocked means that the provider cannot continue until something else changes: for example, a ProviderConfig
	// does not exist, the target cluster is unreachable, or a channel has no ModuleTemplate.
	ReasonBlocked xpv2.ConditionReason = "Blocked"

	// ReasonUnmanaged means that managed is false for a module of a Kyma, and that the provider no longer manages its objects.
	ReasonUnmanaged xpv2.ConditionReason = "Unmanaged"
)

// Reasons of the condition Ready of a ModuleReleaseMeta, besides Available and Progressing.
const (
	// ReasonInvalidRelease means that a version cannot be released: for example, no ModuleTemplate provides it.
	ReasonInvalidRelease xpv2.ConditionReason = "InvalidRelease"

	// ReasonRolloutFailed means that too many Kymas failed, or that a rollout was aborted.
	ReasonRolloutFailed xpv2.ConditionReason = "RolloutFailed"

	// ReasonRolloutPaused means that a rollout is paused.
	ReasonRolloutPaused xpv2.ConditionReason = "RolloutPaused"
)

// Reasons of the other conditions.
const (
	ReasonResolved      xpv2.ConditionReason = "Resolved"
	ReasonResolveFailed xpv2.ConditionReason = "ResolveFailed"
	ReasonInvalid       xpv2.ConditionReason = "InvalidDescriptor"
	ReasonDowngrade     xpv2.ConditionReason = "VersionLowered"
	ReasonAmbiguous     xpv2.ConditionReason = "AmbiguousChannel"
	ReasonVerified      xpv2.ConditionReason = "SignatureValid"
	ReasonUpgradeFailed xpv2.ConditionReason = "UpgradeFailed"
	ReasonNotVerified   xpv2.ConditionReason = "SignatureInvalid"

	ReasonConnected          xpv2.ConditionReason = "Connected"
	ReasonUnreachable        xpv2.ConditionReason = "Unreachable"
	ReasonUnauthorized       xpv2.ConditionReason = "Unauthorized"
	ReasonInvalidCredentials xpv2.ConditionReason = "InvalidCredentials"
)
