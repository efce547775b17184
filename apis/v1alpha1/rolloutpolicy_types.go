// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A FailurePolicy specifies what happens when a rollout fails.
// +kubebuilder:validation:Enum=Stop;Rollback
type FailurePolicy string

// The failure policies.
const (
	// FailurePolicyStop keeps every Kyma on the version that it has.
	FailurePolicyStop FailurePolicy = "Stop"
	// FailurePolicyRollback changes the Kymas of the wave that failed back to the previous version.
	FailurePolicyRollback FailurePolicy = "Rollback"
)

// A RolloutWave is a group of Kymas that change to a new version together.
type RolloutWave struct {
	// name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// selector selects the Kymas of the wave by their labels. A Kyma is in the first wave that selects it. Without a selector, a
	// wave has all Kymas that no earlier wave selects.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// batch is how many Kymas of the wave change at the same time, as a number or as a percentage of the wave. Defaults to 100%.
	// +optional
	// +kubebuilder:default="100%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([1-9][0-9]?|100)%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || (self >= 1 && self <= 1000000)",message="batch must be a number from 1 to 1000000, or a percentage from 1% to 100%"
	Batch *intstr.IntOrString `json:"batch,omitempty"`

	// soak is how long all Kymas of a batch must be Ready before the next batch or wave starts. Defaults to 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="soak must be a duration"
	Soak *metav1.Duration `json:"soak,omitempty"`
}

// A RolloutPolicySpec specifies in which order Kymas change to a new version, and when a rollout fails.
type RolloutPolicySpec struct {
	// waves lists the groups of Kymas that change one after the other. Kymas that no wave selects form a last wave, with the batch
	// and soak of the last wave in the list.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Waves []RolloutWave `json:"waves,omitempty"`

	// failureBudget is how many Kymas of a wave may fail, as a number or as a percentage of the wave, rounded up to at least 1. If
	// as many Kymas fail as the budget allows, the rollout fails. Kymas whose cluster cannot be reached do not count.
	// +optional
	// +kubebuilder:default="2%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^([0-9][0-9]?|100)%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || (self >= 1 && self <= 1000000)",message="failureBudget must be a number from 1 to 1000000, or a percentage from 0% to 100%"
	FailureBudget *intstr.IntOrString `json:"failureBudget,omitempty"`

	// progressDeadline is how long a module may take to become Ready after its Kyma changed to the version. After that, the Kyma
	// counts as failed.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5s')",message="progressDeadline must be at least 5s"
	ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`

	// maxDeferral is how long Kymas may defer the version with deferUpgradesUntil, starting when the rollout starts. Defaults to
	// 0s: Kymas cannot defer it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="maxDeferral must be a duration"
	MaxDeferral *metav1.Duration `json:"maxDeferral,omitempty"`

	// onFailure specifies what happens when the rollout fails: Stop keeps every Kyma on the version that it has, and Rollback
	// changes the Kymas of the wave that failed back to the previous version.
	// +optional
	// +kubebuilder:default=Stop
	OnFailure FailurePolicy `json:"onFailure,omitempty"`
}

// A RolloutPolicy specifies in which waves the Kymas of a fleet change to a new version of a module. A ModuleReleaseMeta refers to it.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="WAVES",type="string",JSONPath=".spec.waves[*].name"
// +kubebuilder:printcolumn:name="BUDGET",type="string",JSONPath=".spec.failureBudget"
// +kubebuilder:printcolumn:name="ON-FAILURE",type="string",JSONPath=".spec.onFailure"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Cluster,categories={crossplane,modules},shortName=krp
type RolloutPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies the waves, and when a rollout fails.
	// +required
	Spec RolloutPolicySpec `json:"spec"`
}

// A RolloutPolicyList is a list of RolloutPolicies.
// +kubebuilder:object:root=true
type RolloutPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RolloutPolicy `json:"items"`
}
