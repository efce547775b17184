// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"

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

	// ValuesFrom are values in Secrets and ConfigMaps of the Manifest's namespace, for charts only. They are merged over
	// those of the chart and of the config layer, the later over the earlier, and the field values over all of them. A
	// change of one is rolled out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// Values are merged over those of valuesFrom, the config layer and the chart. For charts only. They are stored as they
	// are: take secrets from valuesFrom.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`
}

// A ValuesReference is a key of a Secret or a ConfigMap that holds chart values.
type ValuesReference struct {
	// Kind of the object.
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind"`

	// Name of the object, in the namespace of the Manifest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key of the data. Its content is one map of YAML, up to 2 MiB, or with targetPath one value.
	// +optional
	// +kubebuilder:default="values.yaml"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`

	// TargetPath is where the content goes as one string, in the form a.b.c, such as database.password; a dot in a name is
	// written as \. there.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=250
	TargetPath string `json:"targetPath,omitempty"`

	// Optional says that the object or the key may be missing. By default that is an error of the install.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// A DriftPolicy says what is done where somebody else changed or deleted what a Manifest installed.
// +kubebuilder:validation:Enum=Repair;Report;Ignore
type DriftPolicy string

// The policies for drift.
const (
	DriftPolicyRepair DriftPolicy = "Repair"
	DriftPolicyReport DriftPolicy = "Report"
	DriftPolicyIgnore DriftPolicy = "Ignore"
)

// A RollbackTrigger says what an upgrade must be for it to be rolled back.
// +kubebuilder:validation:Enum=Failed;NotReady
type RollbackTrigger string

// The triggers of a rollback.
const (
	RollbackOnFailed   RollbackTrigger = "Failed"
	RollbackOnNotReady RollbackTrigger = "NotReady"
)

// A Rollback says when an upgrade that does not work is rolled back.
type Rollback struct {
	// On Failed rolls back an upgrade whose state is Error, On NotReady one that is not Ready for any reason.
	// +optional
	// +kubebuilder:default=Failed
	On RollbackTrigger `json:"on,omitempty"`

	// True is what YAML 1.1, and with it kubectl, makes of the key on without quotes. It counts before on.
	// +optional
	True RollbackTrigger `json:"true,omitempty"`

	// After this time without an interruption, counted from when the upgrade began: a duration such as 90s, 10m or 1h30m.
	// A newer desired version ends it.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	After metav1.Duration `json:"after,omitempty"`
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
// +kubebuilder:validation:XValidation:rule="!has(self.crds) || !has(self.installs) || self.installs.all(i, i.name != 'crds')",message="an install of a Manifest with crds must not be named crds"
// +kubebuilder:validation:XValidation:rule="!has(self.resource) || (has(self.customResourcePolicy) && self.customResourcePolicy == 'Ignore') || !has(self.installs) || self.installs.all(i, i.name != 'resource')",message="an install of a Manifest with a resource must not be named resource"
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

	// Drift says what is done where somebody else changed or deleted what was installed. Repair puts it back, Report only
	// says so in the status and in an event, Ignore does neither. Fields that an autoscaler, an injector or a webhook sets by
	// the way Kubernetes works are no drift.
	// +optional
	// +kubebuilder:default=Repair
	Drift DriftPolicy `json:"drift,omitempty"`

	// Rollback of an upgrade that does not work, to what was Ready last; by default there is none. The condition RolledBack
	// says that it happened. A first install is never rolled back.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// Adopt takes over objects that exist in the target cluster already, and the Helm releases of the same names, without a
	// restart of what stays the same. By default such an object is a collision that is reported.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
}

// A ManifestSpec is the desired state of a Manifest.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable: a Manifest cannot move to another cluster, delete it and create another"
type ManifestSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider says what is installed.
	// +structType=atomic
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

// Trigger of the rollback, whichever way its key was written.
func (r *Rollback) Trigger() RollbackTrigger {
	return cmp.Or(r.True, r.On, RollbackOnFailed)
}
