// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A CustomResourcePolicy specifies who manages the default custom resource of a module.
// +kubebuilder:validation:Enum=CreateAndDelete;Ignore
type CustomResourcePolicy string

// The policies for a module's default custom resource.
const (
	CustomResourcePolicyCreateAndDelete CustomResourcePolicy = "CreateAndDelete"
	CustomResourcePolicyIgnore          CustomResourcePolicy = "Ignore"
)

// An Install is a Helm chart, a kustomization or plain YAML that a Manifest installs.
type Install struct {
	// name of the install. It must be unique in the Manifest. For a chart, it is also the name of the Helm release.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// source specifies where the content of the install comes from.
	// +required
	Source Source `json:"source"`

	// namespace of the Helm release, and of objects that do not specify one. It is created if it does not exist, and
	// never deleted.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// valuesFrom lists Secrets and ConfigMaps in the namespace of the Manifest that hold values. Only for charts. They
	// override the values of the chart and of the config layer; later entries override earlier ones, and values
	// overrides all of them. A change to one of these objects is rolled out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// values override the values of valuesFrom, the config layer and the chart. Only for charts. They are stored unencrypted:
	// use valuesFrom for secrets.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`
}

// A ValuesReference selects a key of a Secret or a ConfigMap that holds values of charts.
type ValuesReference struct {
	// kind of the object.
	// +required
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind"`

	// name of the object. It must be in the namespace of the Manifest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// key in the data of the object. Its content is a YAML map of up to 2 MiB or, with targetPath, a single value.
	// +optional
	// +kubebuilder:default="values.yaml"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`

	// targetPath is the path of a single value to set, such as database.password. The content becomes a string at that path.
	// To include a dot in a name, write \. (backslash, dot).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=250
	TargetPath string `json:"targetPath,omitempty"`

	// optional specifies whether the object or the key may be missing. By default, the install fails if either is missing.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// A DriftPolicy specifies what happens when other clients change or delete objects that a Manifest installed.
// +kubebuilder:validation:Enum=Repair;Report;Ignore
type DriftPolicy string

// The policies for drift.
const (
	DriftPolicyRepair DriftPolicy = "Repair"
	DriftPolicyReport DriftPolicy = "Report"
	DriftPolicyIgnore DriftPolicy = "Ignore"
)

// A Mode specifies whether changes are applied to a target cluster, or only planned.
// +kubebuilder:validation:Enum=Apply;Plan
type Mode string

// The modes.
const (
	ModeApply Mode = "Apply"
	ModePlan  Mode = "Plan"
)

// An ImmutableFieldsPolicy specifies what happens when a change affects a field of an object that cannot be changed.
// +kubebuilder:validation:Enum=Refuse;Recreate
type ImmutableFieldsPolicy string

// The policies for immutable fields.
const (
	ImmutableFieldsPolicyRefuse   ImmutableFieldsPolicy = "Refuse"
	ImmutableFieldsPolicyRecreate ImmutableFieldsPolicy = "Recreate"
)

// An AdoptionPolicy specifies what happens to existing objects that a Manifest installs.
// +kubebuilder:validation:Enum=Refuse;Adopt
type AdoptionPolicy string

// The policies for adoption.
const (
	AdoptionPolicyRefuse AdoptionPolicy = "Refuse"
	AdoptionPolicyAdopt  AdoptionPolicy = "Adopt"
)

// A RollbackTrigger is the state of an upgrade that causes a rollback.
// +kubebuilder:validation:Enum=Failed;NotReady
type RollbackTrigger string

// The triggers of a rollback.
const (
	RollbackTriggerFailed   RollbackTrigger = "Failed"
	RollbackTriggerNotReady RollbackTrigger = "NotReady"
)

// A Rollback specifies when a failed upgrade is rolled back.
type Rollback struct {
	// trigger is the state of an upgrade that causes a rollback: Failed means state Error, NotReady means any state other than
	// Ready.
	// +optional
	// +kubebuilder:default=Failed
	Trigger RollbackTrigger `json:"trigger,omitempty"`

	// after is how long after its start an upgrade in this state is rolled back, such as 90s, 10m or 1h30m. With trigger Failed,
	// the timer restarts whenever the upgrade recovers from state Error. After an upgrade has become Ready, it is not rolled
	// back anymore. A newer desired version ends the rollback.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="after must be a duration"
	After metav1.Duration `json:"after,omitempty"`
}

// A ReadinessRule specifies when objects of a kind are ready, as an expression of the Common Expression Language
// (CEL).
type ReadinessRule struct {
	// cel is an expression of type bool over the variable object, such as object.status.state == "Ready". If a field
	// does not exist, the object is not ready.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	CEL string `json:"cel"`

	// for is the kind that the rule applies to. Defaults to the kind of the custom resource of the Manifest.
	// +optional
	For *TypeSelector `json:"for,omitempty"`
}

// A TypeSelector selects a kind.
type TypeSelector struct {
	// apiVersion of the kind, such as apps/v1 or v1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion"`

	// kind is the name of the kind, such as Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
}

// A ComponentDigest identifies a component in a registry by its digest.
type ComponentDigest struct {
	Component `json:",inline"`

	// digest of the manifest of the component: sha256: followed by 64 hexadecimal digits.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest"`
}

// ManifestAllowed restricts the objects that a Manifest may install.
type ManifestAllowed struct {
	Confinement `json:",inline"`

	// moduleTemplate is the name of the ModuleTemplate that the restrictions come from. It is used in messages.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ModuleTemplate string `json:"moduleTemplate,omitempty"`
}

// ManifestParameters specify what is installed in the target cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.descriptor) || !has(self.component)",message="descriptor and component are mutually exclusive"
// +kubebuilder:validation:XValidation:rule="(has(self.installs) && size(self.installs) > 0) || has(self.crds) || has(self.resource)",message="at least one of installs, crds and resource must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.crds) || !has(self.installs) || self.installs.all(i, i.name != 'crds')",message="an install must not be named crds when crds is set"
// +kubebuilder:validation:XValidation:rule="!has(self.resource) || (has(self.customResourcePolicy) && self.customResourcePolicy == 'Ignore') || !has(self.installs) || self.installs.all(i, i.name != 'resource')",message="an install must not be named resource when resource is set"
type ManifestParameters struct {
	// version of the module to show in the status. Defaults to the version of the first chart.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// installs lists what to install. Installs are applied in this order and removed in reverse order. Their names must be
	// unique.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(i, self.exists_one(j, j.name == i.name))",message="the names of installs must be unique"
	Installs []Install `json:"installs,omitempty"`

	// config refers to an OCI layer with Helm install flags and values for each install, identified by its name.
	// +optional
	Config *LayerSource `json:"config,omitempty"`

	// crds refers to an OCI layer: a tar archive of YAML files with CustomResourceDefinitions. They are applied and established
	// before everything else, and removed last.
	// +optional
	CRDs *LayerSource `json:"crds,omitempty"`

	// resource is the custom resource of the module. It is created after everything else is applied, and deleted first.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:validation:XValidation:rule="has(self.metadata) && has(self.metadata.name) && self.metadata.name != ''",message="metadata.name of the resource is required"
	Resource *runtime.RawExtension `json:"resource,omitempty"`

	// customResourcePolicy specifies who manages the custom resource of the module. With CreateAndDelete, the provider creates
	// and deletes it with the module. With Ignore, the provider does not manage it.
	// +optional
	// +kubebuilder:default=CreateAndDelete
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// readiness lists rules that decide when objects are ready, in addition to the built-in rules.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Readiness []ReadinessRule `json:"readiness,omitempty"`

	// descriptor is the component descriptor that lists the sources. It is required to verify signatures if the ProviderConfig
	// requires them. A Kyma sets it in the Manifests that it creates.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Descriptor *runtime.RawExtension `json:"descriptor,omitempty"`

	// component refers to a component descriptor in a registry. It is an alternative to descriptor.
	// +optional
	Component *ComponentDigest `json:"component,omitempty"`

	// drift specifies what happens when other clients change or delete installed objects. Repair restores them, Report
	// reports them in the status and in an event, Ignore does neither. Fields that autoscalers, injectors and webhooks
	// are expected to set are not drift.
	// +optional
	// +kubebuilder:default=Repair
	Drift DriftPolicy `json:"drift,omitempty"`

	// mode specifies whether changes are applied to the target cluster. With Plan, changes are not applied and drift is not
	// repaired; instead, status.atProvider.plan lists the changes that would be made.
	// +optional
	// +kubebuilder:default=Apply
	Mode Mode `json:"mode,omitempty"`

	// immutableFields specifies what happens when a change affects a field that the API server treats as immutable, such as the
	// selector of a Deployment. Refuse reports an error. Recreate deletes and recreates the object, but never a Namespace, a
	// PersistentVolume, a PersistentVolumeClaim, a CRD or the custom resource. To allow this for a single object, set the
	// annotation kyma.m.crossplane.io/recreate: "true" on the object in the chart.
	// +optional
	// +kubebuilder:default=Refuse
	ImmutableFields ImmutableFieldsPolicy `json:"immutableFields,omitempty"`

	// rollback specifies when a failed upgrade is rolled back to the last known good revision. The condition RolledBack reports
	// a rollback. By default, upgrades are not rolled back. A first installation is never rolled back.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// adoption specifies what happens to objects that already exist in the target cluster, and to Helm releases with the same
	// names. With Refuse, they are not changed and are reported as ownership conflicts. With Adopt, the Manifest takes
	// ownership of them, without restarting workloads that do not change. With both policies, a compatible CRD of another
	// owner is used unchanged and never deleted. With Adopt, a CRD that belongs to no Manifest is taken over.
	// +optional
	// +kubebuilder:default=Refuse
	Adoption AdoptionPolicy `json:"adoption,omitempty"`

	// allowed restricts the objects that may be installed. A Kyma sets it from spec.allowed of the ModuleTemplate. It does not
	// restrict users who can change the Manifest. To restrict these users, limit the permissions of the kubeconfig.
	// +optional
	Allowed *ManifestAllowed `json:"allowed,omitempty"`

	// impersonate specifies the ServiceAccount of the target cluster whose permissions restrict what is installed and removed.
	// Defaults to spec.impersonate of the ProviderConfig. It cannot be overridden if it is set in a ClusterProviderConfig.
	// +optional
	Impersonate *Impersonation `json:"impersonate,omitempty"`
}

// A ManifestSpec is the desired state of a Manifest.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable: a Manifest cannot be moved to another cluster; delete it and create a new one"
type ManifestSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// forProvider specifies what is installed in the target cluster.
	// +required
	// +structType=atomic
	ForProvider ManifestParameters `json:"forProvider"`
}

// A ManifestStatus is the observed state of a Manifest.
type ManifestStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// atProvider is the observed state of the target cluster.
	// +optional
	AtProvider ManifestObservation `json:"atProvider,omitempty"`
}

// A Manifest installs a module in a target cluster and reports its state. Its external name is the name of its
// inventory, a Secret in the namespace kyma-system of the target cluster.
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
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,modules},shortName=kmf
type Manifest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of a Manifest.
	// +required
	Spec ManifestSpec `json:"spec"`
	// status is the observed state of a Manifest.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
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
