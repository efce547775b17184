// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A Module is a module that a Kyma enables.
// +kubebuilder:validation:XValidation:rule="!has(self.channel) || !has(self.version)",message="channel and version are mutually exclusive; remove one of them"
type Module struct {
	// name of the module, as in status.moduleName of its ModuleTemplates.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`

	// channel is the release channel of this module. It defaults to the channel of the Kyma.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*[a-z0-9]$`
	Channel string `json:"channel,omitempty"`

	// version pins the module to a version, regardless of channels and rollouts. A ModuleTemplate must provide the version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// managed specifies whether the provider manages the module. With false, the objects of the module stay in the cluster and
	// keep running, but the provider removes its labels from them and no longer changes or deletes them. With true, it manages
	// them again, without a restart of their pods. Defaults to true.
	// +optional
	Managed *bool `json:"managed,omitempty"`

	// customResourcePolicy specifies who manages the default custom resource of the module. With CreateAndDelete, the provider
	// creates and deletes it with the module. With Ignore, the provider does not manage it.
	// +optional
	// +kubebuilder:default=CreateAndDelete
	CustomResourcePolicy CustomResourcePolicy `json:"customResourcePolicy,omitempty"`

	// valuesFrom lists Secrets and ConfigMaps in the namespace of the Kyma that hold values for the charts of the
	// module. They override the values of the chart and of the config layer; later entries override earlier ones, and values
	// overrides all of them. A change to one of these objects is rolled out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// values to set in all charts of the module. They override all other values except those in installs.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`

	// installs specifies values for individual charts of the module, identified by the name of the install. The values and
	// valuesFrom of the module apply to all of its charts.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Installs []ModuleInstall `json:"installs,omitempty"`

	// drift specifies what happens when other clients change or delete objects of the module: Repair, Report or Ignore.
	// Defaults to Repair. See spec.forProvider.drift of Manifest.
	// +optional
	Drift DriftPolicy `json:"drift,omitempty"`

	// mode specifies whether changes to this module are applied: Apply or Plan. Defaults to Apply. If spec.forProvider.mode of
	// the Kyma is Plan, all modules are only planned. See spec.forProvider.mode of Manifest.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// immutableFields specifies what happens when a change affects an immutable field: Refuse or Recreate. Defaults to Refuse.
	// See spec.forProvider.immutableFields of Manifest.
	// +optional
	ImmutableFields ImmutableFieldsPolicy `json:"immutableFields,omitempty"`

	// rollback specifies when a failed upgrade of the module is rolled back. By default, upgrades are not rolled back.
	// See spec.forProvider.rollback of Manifest.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// adoption specifies what happens to objects of the module that already exist in the target cluster: Refuse or Adopt.
	// Defaults to Refuse. See spec.forProvider.adoption of Manifest.
	// +optional
	Adoption AdoptionPolicy `json:"adoption,omitempty"`
}

// A ModuleInstall specifies values for one chart of a module.
type ModuleInstall struct {
	// name of the install, as in status.resources[].install of the ModuleTemplate.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// valuesFrom lists Secrets and ConfigMaps in the namespace of the Kyma that hold values for this chart. They override
	// valuesFrom of the module; values of the module and of this install override them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// values override all other values of this chart, including values of the module.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Values *runtime.RawExtension `json:"values,omitempty"`
}

// A MaintenanceWindow is a recurring period of time.
type MaintenanceWindow struct {
	// schedule is the start of the window as a cron expression with five fields: minute, hour, day of the month, name or number of the
	// month, and day of the week, such as "0 2 * * 6".
	// +required
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule"`

	// timeZone of the schedule, as in the IANA time zone database, such as Europe/Berlin. Defaults to UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// duration of the window, such as 2h. At least one minute, and at most a week.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="duration must be between 1m and 168h"
	Duration metav1.Duration `json:"duration"`
}

// KymaParameters specify the modules of a cluster.
type KymaParameters struct {
	// channel is the release channel of all modules that do not specify one.
	// +optional
	// +kubebuilder:default=regular
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*[a-z0-9]$`
	Channel string `json:"channel,omitempty"`

	// mode specifies whether changes are applied to the cluster. With Plan, nothing is applied and no module is removed.
	// Instead, the status of each module's Manifest lists what would change.
	// +optional
	// +kubebuilder:default=Apply
	Mode Mode `json:"mode,omitempty"`

	// modules to install in the cluster.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Modules []Module `json:"modules,omitempty"`

	// maintenanceWindows lists the periods in which installed modules may be upgraded. Without windows, and with a
	// reason in the annotation kyma.m.crossplane.io/upgrade-now, they may at any time. Installs, repairs and edits do not wait.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MaintenanceWindows []MaintenanceWindow `json:"maintenanceWindows,omitempty"`

	// deferUpgradesUntil postpones upgrades of installed modules until this time, but no longer than maxDeferral of the
	// RolloutPolicy after the rollout of the version started. Mandatory modules without a RolloutPolicy cannot be deferred.
	// +optional
	// +kubebuilder:validation:Type=string
	DeferUpgradesUntil *metav1.Time `json:"deferUpgradesUntil,omitempty"`
}

// A KymaSpec is the desired state of a Kyma.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable: a Kyma cannot be moved to another cluster; delete it and create a new one"
type KymaSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// forProvider specifies the modules of the cluster.
	// +optional
	// +kubebuilder:default={}
	ForProvider KymaParameters `json:"forProvider,omitempty"`

	// resourceRefs lists the Manifests of the modules. The provider writes it for tools that show related resources,
	// such as crossplane beta trace, and does not read it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	ResourceRefs []ManifestReference `json:"resourceRefs,omitempty"`
}

// A KymaStatus is the observed state of a Kyma.
type KymaStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// atProvider is the observed state of the modules.
	// +optional
	AtProvider KymaObservation `json:"atProvider,omitempty"`
}

// A Kyma specifies which modules a cluster runs, and from which release channel. The provider creates a Manifest for
// each module, in the namespace of the Kyma.
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
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,modules},shortName=kkyma
type Kyma struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of a Kyma.
	// +required
	Spec KymaSpec `json:"spec"`
	// status is the observed state of a Kyma.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
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
