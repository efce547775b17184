// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A Module is one module that a Kyma wants.
type Module struct {
	// Name of the module, as ModuleTemplates have it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`

	// Channel of this module, where it is not that of the Kyma.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	Channel string `json:"channel,omitempty"`

	// CustomResourcePolicy CreateAndDelete creates and removes the default custom resource with the module, Ignore leaves
	// custom resources to others.
	// +optional
	// +kubebuilder:default=CreateAndDelete
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// ValuesFrom are values in Secrets and ConfigMaps of the Kyma's namespace, for each chart of the module. They are
	// merged over those of the chart and of the config layer, and the field values over them. A change of one is rolled
	// out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// Values are merged over those of each chart of the module.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`

	// Drift says what is done where somebody else changed or deleted what the module installed, as in a Manifest: Repair,
	// Report or Ignore; by default Repair.
	// +optional
	Drift DriftPolicy `json:"drift,omitempty"`

	// Rollback of an upgrade of the module that does not work, as in a Manifest; by default there is none.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// Adopt takes over what exists of the module in the target cluster already, as in a Manifest; by default it does not.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
}

// KymaParameters say which modules a cluster gets.
type KymaParameters struct {
	// Channel of all modules that name none.
	// +optional
	// +kubebuilder:default=regular
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	Channel string `json:"channel,omitempty"`

	// Modules of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Modules []Module `json:"modules,omitempty"`
}

// A ModuleStatus is what became of one module.
type ModuleStatus struct {
	// Name of the module.
	Name string `json:"name"`

	// Version that the Manifest installs.
	// +optional
	Version string `json:"version,omitempty"`

	// Channel that the version is from.
	// +optional
	Channel string `json:"channel,omitempty"`

	// State of the module.
	State State `json:"state"`

	// Manifest of the module, by name, in the namespace of the Kyma.
	// +optional
	Manifest string `json:"manifest,omitempty"`

	// Message names the first thing to look at where the state is not Ready.
	// +optional
	Message string `json:"message,omitempty"`
}

// KymaObservation is what is seen of the modules.
type KymaObservation struct {
	// State of the whole.
	// +optional
	State State `json:"state,omitempty"`

	// Message names the first module to look at where the state is not Ready, and why. It is that of condition Ready.
	// +optional
	Message string `json:"message,omitempty"`

	// ActiveChannel is the channel for which all modules were Ready last.
	// +optional
	ActiveChannel string `json:"activeChannel,omitempty"`

	// ModulesReady says how many modules are Ready, of how many: 2/3.
	// +optional
	ModulesReady string `json:"modulesReady,omitempty"`

	// Modules that are wanted or still being removed, sorted by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Modules []ModuleStatus `json:"modules,omitempty"`
}

// A ManifestReference refers to a Manifest in the namespace of a Kyma.
type ManifestReference struct {
	// APIVersion of the Manifest.
	APIVersion string `json:"apiVersion"`

	// Kind of the Manifest.
	Kind string `json:"kind"`

	// Name of the Manifest.
	Name string `json:"name"`
}

// A KymaSpec is the desired state of a Kyma.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable: a Kyma cannot move to another cluster, delete it and create another"
type KymaSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider says which modules the cluster gets.
	// +optional
	// +kubebuilder:default={}
	ForProvider KymaParameters `json:"forProvider,omitempty"`

	// ResourceRefs are the Manifests of the modules. The provider sets them, for tools that show what belongs together,
	// such as crossplane beta trace; it does not read them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	ResourceRefs []ManifestReference `json:"resourceRefs,omitempty"`
}

// A KymaStatus is the observed state of a Kyma.
type KymaStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is what is seen of the modules.
	// +optional
	AtProvider KymaObservation `json:"atProvider,omitempty"`
}

// A Kyma says which modules one cluster gets, and from which channel. Each module becomes a Manifest in the namespace
// of the Kyma.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="STATE",type="string",JSONPath=".status.atProvider.state"
// +kubebuilder:printcolumn:name="CHANNEL",type="string",JSONPath=".spec.forProvider.channel"
// +kubebuilder:printcolumn:name="MODULES",type="string",JSONPath=".status.atProvider.modulesReady"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,modules}
type Kyma struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KymaSpec   `json:"spec"`
	Status KymaStatus `json:"status,omitempty"`
}

// A KymaList is a list of Kymas.
// +kubebuilder:object:root=true
type KymaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Kyma `json:"items"`
}

// GetLastHandledReconcileAt returns the value of annotation crossplane.io/reconcile-requested-at that was handled last.
func (k *Kyma) GetLastHandledReconcileAt() string {
	return k.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt sets the value of annotation crossplane.io/reconcile-requested-at that was handled last.
func (k *Kyma) SetLastHandledReconcileAt(token string) {
	k.Status.SetLastHandledReconcileAt(token)
}
