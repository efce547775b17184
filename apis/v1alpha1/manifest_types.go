// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A CustomResourcePolicy says what becomes of a module's default custom resource.
// +kubebuilder:validation:Enum=CreateAndDelete;Ignore
type CustomResourcePolicy string

// The policies for a module's default custom resource.
const (
	CustomResourcePolicyCreateAndDelete CustomResourcePolicy = "CreateAndDelete"
	CustomResourcePolicyIgnore          CustomResourcePolicy = "Ignore"
)

// An Install is one thing that a Manifest installs: a Helm chart, a kustomization or plain YAML.
type Install struct {
	// Name of the install, unique in the Manifest. It is the name of the Helm release of a chart.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Source is where the install comes from.
	Source Source `json:"source"`

	// Namespace of the Helm release, and of objects that name none; created where it is missing, never deleted.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// Values are merged over the chart's own.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`
}

// A ReadinessRule says when objects of one kind are ready, in the Common Expression Language.
type ReadinessRule struct {
	// CEL is an expression of type bool over the variable object, for example object.status.state == "Ready". A field
	// that is missing makes the object not ready.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	CEL string `json:"cel"`

	// For is the kind that the rule is for; none means the Manifest's custom resource.
	// +optional
	For *TypeSelector `json:"for,omitempty"`
}

// A TypeSelector names a kind.
type TypeSelector struct {
	// APIVersion of the kind: group/version, or v1.
	// +kubebuilder:validation:MinLength=1
	APIVersion string `json:"apiVersion"`

	// Kind by name.
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`
}

// A ComponentDigest is a component in a registry by digest.
type ComponentDigest struct {
	Component `json:",inline"`

	// Digest of the manifest of the component: sha256: and 64 hexadecimal digits.
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest"`
}

// ManifestParameters say what is installed in the target cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.descriptor) || !has(self.component)",message="a Manifest has a descriptor or a component, not both"
// +kubebuilder:validation:XValidation:rule="(has(self.installs) && size(self.installs) > 0) || has(self.crds) || has(self.resource)",message="a Manifest needs installs, crds or a resource"
type ManifestParameters struct {
	// Version of the module, as it is shown; by default that of the first install's chart.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Installs are applied in this order, and removed in the opposite order.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Installs []Install `json:"installs,omitempty"`

	// Config is an OCI layer with Helm's install flags and set values for each install by name.
	// +optional
	Config *LayerSource `json:"config,omitempty"`

	// CRDs is an OCI layer, a tar of YAML files, that is applied and established first, and removed last.
	// +optional
	CRDs *LayerSource `json:"crds,omitempty"`

	// Resource is the custom resource of the module. It is created once the rest is applied, and removed first.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:validation:XValidation:rule="has(self.metadata) && has(self.metadata.name) && self.metadata.name != ''",message="resource needs metadata.name"
	Resource *runtime.RawExtension `json:"resource,omitempty"`

	// CustomResourcePolicy CreateAndDelete creates and removes the resource with the module, Ignore leaves it to others.
	// +optional
	// +kubebuilder:default=CreateAndDelete
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// Readiness rules, in addition to what is known of each kind.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	Readiness []ReadinessRule `json:"readiness,omitempty"`

	// Descriptor is the component descriptor that lists the sources, for the verification of signatures that the
	// ProviderConfig may ask for. A Kyma sets it where it does.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Descriptor *runtime.RawExtension `json:"descriptor,omitempty"`

	// Component names the component descriptor that lists the sources, instead of descriptor, where it is in a registry.
	// +optional
	Component *ComponentDigest `json:"component,omitempty"`

	// Adopt takes over objects that exist in the target cluster already, and the Helm releases of the same names. By
	// default such an object is a collision that is reported.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
}

// A State is the short form of the condition of a module.
// +kubebuilder:validation:Enum=Ready;Processing;Warning;Error;Deleting
type State string

// The states. Where several apply the first of Deleting, Error, Warning, Processing, Ready is shown.
const (
	StateReady      State = "Ready"
	StateProcessing State = "Processing"
	StateWarning    State = "Warning"
	StateError      State = "Error"
	StateDeleting   State = "Deleting"
)

// InstallStatus is what became of one install.
type InstallStatus struct {
	// Name of the install.
	Name string `json:"name"`

	// State of the install.
	State State `json:"state"`

	// Version of the chart that is installed.
	// +optional
	Version string `json:"version,omitempty"`

	// Message names the first thing to look at where the state is not Ready.
	// +optional
	Message string `json:"message,omitempty"`
}

// ResourceCounts count the objects in the target cluster.
type ResourceCounts struct {
	// Ready objects.
	Ready int32 `json:"ready"`

	// Total of the objects.
	Total int32 `json:"total"`
}

// ManifestObservation is what is seen of a Manifest in the target cluster.
type ManifestObservation struct {
	// State of the whole.
	// +optional
	State State `json:"state,omitempty"`

	// Version that is installed.
	// +optional
	Version string `json:"version,omitempty"`

	// Message names the first thing to look at where the state is not Ready.
	// +optional
	Message string `json:"message,omitempty"`

	// Installs in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Installs []InstallStatus `json:"installs,omitempty"`

	// Resources that are ready, of how many.
	// +optional
	Resources *ResourceCounts `json:"resources,omitempty"`

	// LastDrift names the objects and fields that were found changed or deleted in the target cluster and were put
	// back last; values are never shown.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LastDrift string `json:"lastDrift,omitempty"`
}

// A ManifestSpec is the desired state of a Manifest.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable: a Manifest cannot move to another cluster, delete it and create another"
type ManifestSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider says what is installed.
	ForProvider ManifestParameters `json:"forProvider"`
}

// A ManifestStatus is the observed state of a Manifest.
type ManifestStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is what is seen in the target cluster.
	// +optional
	AtProvider ManifestObservation `json:"atProvider,omitempty"`
}

// A Manifest is one module in one cluster: what to install there, and what became of it. Its external name is the name
// of its inventory, a Secret in the namespace kyma-system of the target cluster.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="STATE",type="string",JSONPath=".status.atProvider.state"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.atProvider.version"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.atProvider.message",priority=1
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,modules}
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ManifestSpec   `json:"spec"`
	Status ManifestStatus `json:"status,omitempty"`
}

// A ManifestList is a list of Manifests.
// +kubebuilder:object:root=true
type ManifestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Manifest `json:"items"`
}

// GetLastHandledReconcileAt returns the value of annotation crossplane.io/reconcile-requested-at that was handled last.
func (m *Manifest) GetLastHandledReconcileAt() string {
	return m.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt sets the value of annotation crossplane.io/reconcile-requested-at that was handled last.
func (m *Manifest) SetLastHandledReconcileAt(token string) {
	m.Status.SetLastHandledReconcileAt(token)
}
