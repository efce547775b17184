// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// MandatoryChannel is the name under which the status of a ModuleReleaseMeta lists the rollout of a mandatory version.
const MandatoryChannel = "mandatory"

// A ChannelRelease specifies the version of a module in a release channel.
type ChannelRelease struct {
	// channel is the name of the release channel.
	// +required
	// +kubebuilder:validation:XValidation:rule="self != 'mandatory'",message="the name mandatory is reserved for mandatory modules"
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*[a-z0-9]$`
	Channel string `json:"channel"`

	Release `json:",inline"`
}

// A Release specifies a version of a module, and how it spreads over the Kymas.
type Release struct {
	// version of the module. A ModuleTemplate must provide it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version"`

	// rolloutPolicy is the name of the RolloutPolicy by which the Kymas change to a new version. Without it, a new version spreads
	// evenly within the period of the provider flag --default-spread, and stops if more than 5% of the Kymas fail.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RolloutPolicy string `json:"rolloutPolicy,omitempty"`

	// paused stops the rollout until it is false: no further Kymas change to the version.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// abortedVersion aborts the rollout if it equals version: the rollout fails, and onFailure of the RolloutPolicy applies.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	AbortedVersion string `json:"abortedVersion,omitempty"`

	// retry is an arbitrary value. Each new value resumes a failed rollout at the wave that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Retry string `json:"retry,omitempty"`
}

// A ModuleReleaseMetaSpec specifies which version of a module each channel has, or that a version is mandatory.
// +kubebuilder:validation:XValidation:rule="has(self.channels) != has(self.mandatory)",message="exactly one of channels and mandatory must be set"
type ModuleReleaseMetaSpec struct {
	// moduleName is the name that a Kyma uses to enable the module.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ModuleName string `json:"moduleName"`

	// ocmComponentName is the name of the component of the module. If set, ModuleTemplates with other components do not provide
	// versions for the channels.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z0-9.\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$`
	OCMComponentName string `json:"ocmComponentName,omitempty"`

	// channels lists the release channels of the module, and the version of each.
	// +optional
	// +listType=map
	// +listMapKey=channel
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Channels []ChannelRelease `json:"channels,omitempty"`

	// mandatory makes every Kyma that kymaSelector selects have the module, in this version. The owner of a Kyma cannot remove the
	// module.
	// +optional
	Mandatory *Release `json:"mandatory,omitempty"`

	// kymaSelector selects the Kymas that may have the module, or that must have it if it is mandatory. Defaults to all Kymas.
	// +optional
	KymaSelector *metav1.LabelSelector `json:"kymaSelector,omitempty"`
}

// A RolloutPhase is the phase of a rollout.
// +kubebuilder:validation:Enum=Progressing;Paused;Failed;RollingBack;RolledBack;Complete
type RolloutPhase string

// The phases of a rollout.
const (
	// RolloutProgressing means that Kymas change to the version, wave by wave.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutPaused means that no further Kymas change to the version until the rollout is resumed.
	RolloutPaused RolloutPhase = "Paused"
	// RolloutFailed means that too many Kymas failed, or that the rollout was aborted. No further Kymas change to the version.
	RolloutFailed RolloutPhase = "Failed"
	// RolloutRollingBack means that the rollout failed, and that the Kymas of its wave change back to the previous version.
	RolloutRollingBack RolloutPhase = "RollingBack"
	// RolloutRolledBack means that the rollout failed, and that the Kymas of its wave have the previous version again.
	RolloutRolledBack RolloutPhase = "RolledBack"
	// RolloutComplete means that all Kymas that can be reached have the version and are Ready.
	RolloutComplete RolloutPhase = "Complete"
)

// A RolloutFailure describes a Kyma that failed in a rollout.
type RolloutFailure struct {
	// namespace of the Kyma.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the Kyma.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// message explains the failure.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// A ChannelRollout is the state of the rollout of a version in a channel. It determines which Kymas may have the version, together
// with the RolloutPolicy, and the labels and UID of the Kyma.
type ChannelRollout struct {
	// channel is the name of the release channel, or mandatory.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Channel string `json:"channel"`

	// version that the Kymas change to.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version"`

	// previous is the last version whose rollout completed before this one.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Previous string `json:"previous,omitempty"`

	// phase of the rollout.
	// +required
	Phase RolloutPhase `json:"phase"`

	// wave is the index of the current wave in spec.waves of the RolloutPolicy. Kymas that no wave selects are in the last wave.
	// +optional
	Wave int32 `json:"wave"`

	// waveName is the name of the current wave.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	WaveName string `json:"waveName,omitempty"`

	// threshold limits the Kymas of the current wave that may have the version: those whose hash is lower. Hashes are numbers from
	// 0 to 4294967295, derived from the UID of the Kyma, the module and the version.
	// +optional
	Threshold int64 `json:"threshold"`

	// wavesDigest identifies the waves of the RolloutPolicy to which wave and threshold belong. If the waves change, the rollout starts
	// again at the first wave, and Kymas that have the version keep it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WavesDigest string `json:"wavesDigest,omitempty"`

	// startedAt is the time when the rollout started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// batchStartedAt is the time when the threshold was raised last.
	// +optional
	BatchStartedAt *metav1.Time `json:"batchStartedAt,omitempty"`

	// soakingSince is the time when all Kymas of the current batch were Ready. It is empty while they are not.
	// +optional
	SoakingSince *metav1.Time `json:"soakingSince,omitempty"`

	// retry is the value of retry in the spec that was handled last.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Retry string `json:"retry,omitempty"`

	// total is the number of Kymas that have the module from this channel.
	// +optional
	Total int32 `json:"total"`

	// updated is the number of Kymas whose Manifest has the version. A cluster that is offline gets it later.
	// +optional
	Updated int32 `json:"updated"`

	// ready is the number of Kymas that have the version and whose module is Ready.
	// +optional
	Ready int32 `json:"ready"`

	// failed is the number of Kymas that have the version and whose module failed.
	// +optional
	Failed int32 `json:"failed"`

	// offline is the number of Kymas whose cluster cannot be reached. They do not count as failed, and change to the version when
	// their cluster can be reached again.
	// +optional
	Offline int32 `json:"offline"`

	// waiting is the number of Kymas that may have the version, but are paused, wait for a maintenance window, or defer it.
	// +optional
	Waiting int32 `json:"waiting"`

	// failures lists the first Kymas that failed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Failures []RolloutFailure `json:"failures,omitempty"`

	// message describes the state of the rollout.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// A ModuleReleaseMetaStatus reports the rollouts of a module. Its size does not depend on the number of Kymas.
type ModuleReleaseMetaStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// observedGeneration is the generation that the conditions describe. It is -1 until the provider has processed the
	// ModuleReleaseMeta.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// channels lists the rollout of the version of each channel, sorted by channel.
	// +optional
	// +listType=map
	// +listMapKey=channel
	// +kubebuilder:validation:MaxItems=33
	Channels []ChannelRollout `json:"channels,omitempty"`
}

// A ModuleReleaseMeta specifies which version of a module each release channel has, and how the Kymas change to a new version.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="MODULE",type="string",JSONPath=".spec.moduleName"
// +kubebuilder:printcolumn:name="CHANNELS",type="string",JSONPath=".status.channels[*].channel"
// +kubebuilder:printcolumn:name="VERSIONS",type="string",JSONPath=".status.channels[*].version"
// +kubebuilder:printcolumn:name="PHASES",type="string",JSONPath=".status.channels[*].phase"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:resource:path=modulereleasemetas,scope=Cluster,categories={crossplane,modules},shortName=kmrm
type ModuleReleaseMeta struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies the version of each release channel.
	// +required
	Spec ModuleReleaseMetaSpec `json:"spec"`
	// status reports the rollouts of the versions.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status ModuleReleaseMetaStatus `json:"status,omitempty"`
}

// A ModuleReleaseMetaList is a list of ModuleReleaseMetas.
// +kubebuilder:object:root=true
type ModuleReleaseMetaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModuleReleaseMeta `json:"items"`
}
