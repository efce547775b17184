// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A ClusterRemovalPolicy specifies what happens to the Kyma of a cluster that a KymaSet no longer selects.
// +kubebuilder:validation:Enum=Delete;Orphan
type ClusterRemovalPolicy string

// The cluster removal policies.
const (
	// ClusterRemovalDelete deletes the Kyma, which removes its modules from the cluster.
	ClusterRemovalDelete ClusterRemovalPolicy = "Delete"
	// ClusterRemovalOrphan keeps the Kyma, which then no longer belongs to the KymaSet.
	ClusterRemovalOrphan ClusterRemovalPolicy = "Orphan"
)

// A ProviderConfigSelection selects ProviderConfigs.
type ProviderConfigSelection struct {
	// namespaceSelector selects namespaces by their labels. Defaults to all namespaces. The provider needs permission to read
	// namespaces: see docs/api/kymaset.md.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// selector selects the ProviderConfigs in these namespaces by their labels. Defaults to all of them.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// A ClusterAPISelection selects Clusters of Cluster API.
type ClusterAPISelection struct {
	// namespaceSelector selects namespaces by their labels. Defaults to all namespaces. The provider needs permission to read
	// namespaces: see docs/api/kymaset.md.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// selector selects the Clusters in these namespaces by their labels. Defaults to all of them.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// A KymaTemplateMetadata is the metadata of the Kymas of a KymaSet.
type KymaTemplateMetadata struct {
	// labels of the Kymas. Values may contain parameters, as in the spec of the template.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the Kymas. Values may contain parameters, as in the spec of the template.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// KymaTemplateParameters specify the modules of each cluster of a KymaSet. They have the fields of spec.forProvider of Kyma.
type KymaTemplateParameters struct {
	// channel is the release channel of all modules that do not specify one. It may contain parameters of the cluster.
	// +optional
	// +kubebuilder:default=regular
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=512
	Channel string `json:"channel,omitempty"`

	// mode specifies whether changes are applied to the clusters: Apply or Plan. See spec.forProvider.mode of Kyma. If it is not
	// set, the owner of a Kyma can set it.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// modules to install in each cluster. Strings in values may contain parameters of the cluster. The owner of a Kyma can add
	// modules to it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Modules []Module `json:"modules,omitempty"`

	// maintenanceWindows lists the periods in which installed modules may be upgraded. See spec.forProvider.maintenanceWindows of
	// Kyma. If it is not set, the owner of a Kyma can set it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MaintenanceWindows []MaintenanceWindow `json:"maintenanceWindows,omitempty"`

	// deferUpgradesUntil postpones upgrades of installed modules until this time. See spec.forProvider.deferUpgradesUntil of Kyma.
	// If it is not set, the owner of a Kyma can set it.
	// +optional
	// +kubebuilder:validation:Type=string
	DeferUpgradesUntil *metav1.Time `json:"deferUpgradesUntil,omitempty"`
}

// A KymaTemplateSpec is the spec of the Kymas of a KymaSet, without the reference to the cluster.
type KymaTemplateSpec struct {
	// managementPolicies of the Kymas. See spec.managementPolicies of Kyma.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ManagementPolicies xpv2.ManagementPolicies `json:"managementPolicies,omitempty"`

	// forProvider specifies the modules of each cluster. The channel, and the strings in values, may contain these parameters of
	// the cluster: $(cluster.name), $(cluster.namespace), $(cluster.labels['KEY']) and $(cluster.annotations['KEY']). To write a
	// literal $(, write $$(.
	// +optional
	// +kubebuilder:default={}
	ForProvider KymaTemplateParameters `json:"forProvider,omitempty"`
}

// A KymaTemplate is the template of the Kymas of a KymaSet.
type KymaTemplate struct {
	// metadata of the Kymas.
	// +optional
	Metadata KymaTemplateMetadata `json:"metadata,omitempty"`

	// spec of the Kymas.
	// +required
	Spec KymaTemplateSpec `json:"spec"`
}

// A KymaSetSpec specifies the clusters that have a Kyma, and the template of the Kymas.
// +kubebuilder:validation:XValidation:rule="has(self.providerConfigs) != has(self.clusterAPI)",message="exactly one of providerConfigs and clusterAPI must be set"
type KymaSetSpec struct {
	// providerConfigs selects ProviderConfigs. Each of them gets a Kyma, in its namespace and with its name.
	// +optional
	ProviderConfigs *ProviderConfigSelection `json:"providerConfigs,omitempty"`

	// clusterAPI selects Clusters of Cluster API. Each of them gets a ProviderConfig with its kubeconfig Secret, and a Kyma, in its
	// namespace and with its name. The provider needs permission to read them: see docs/api/kymaset.md.
	// +optional
	ClusterAPI *ClusterAPISelection `json:"clusterAPI,omitempty"`

	// template of the Kymas.
	// +required
	Template KymaTemplate `json:"template"`

	// clusterRemovalPolicy specifies what happens to the Kyma of a cluster that is no longer selected: Delete or Orphan. Delete
	// removes the modules from the cluster. It also applies to all Kymas when the KymaSet is deleted. If another KymaSet selects the
	// cluster, it takes over the Kyma instead. If the ProviderConfig or the Cluster itself is deleted, the Kyma is always deleted.
	// +optional
	// +kubebuilder:default=Delete
	ClusterRemovalPolicy ClusterRemovalPolicy `json:"clusterRemovalPolicy,omitempty"`
}

// A KymaSetFailure describes a cluster whose Kyma could not be applied, or is not Ready.
type KymaSetFailure struct {
	// namespace of the cluster.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// message explains the failure.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// A KymaSetStatus reports how many clusters have a Kyma. Its size does not depend on the number of clusters.
type KymaSetStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// observedGeneration is the generation that the status describes. It is -1 until the provider has processed the KymaSet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// clusters is the number of selected clusters.
	// +optional
	Clusters int32 `json:"clusters"`

	// applied is the number of clusters whose Kyma is as the template specifies.
	// +optional
	Applied int32 `json:"applied"`

	// ready is the number of clusters whose Kyma is Ready.
	// +optional
	Ready int32 `json:"ready"`

	// failed is the number of clusters whose Kyma could not be applied, or is in state Error.
	// +optional
	Failed int32 `json:"failed"`

	// failures lists the first clusters that failed, sorted by namespace and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Failures []KymaSetFailure `json:"failures,omitempty"`
}

// A KymaSet creates a Kyma for each cluster that it selects, now and later. Its name has at most 63 characters.
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must have at most 63 characters, because it is the value of a label"
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="CLUSTERS",type="integer",JSONPath=".status.clusters"
// +kubebuilder:printcolumn:name="READY-CLUSTERS",type="integer",JSONPath=".status.ready"
// +kubebuilder:printcolumn:name="FAILED",type="integer",JSONPath=".status.failed"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:resource:scope=Cluster,categories={crossplane,modules},shortName=kkset
type KymaSet struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec specifies the clusters and the template of their Kymas.
	// +required
	Spec KymaSetSpec `json:"spec"`
	// status reports how many clusters have a Kyma.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status KymaSetStatus `json:"status,omitempty"`
}

// A KymaSetList is a list of KymaSets.
// +kubebuilder:object:root=true
type KymaSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []KymaSet `json:"items"`
}
