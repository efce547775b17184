// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// A ModuleOrigin specifies why a Kyma has a module.
// +kubebuilder:validation:Enum=Kyma;Mandatory
type ModuleOrigin string

// The origins of modules.
const (
	// ModuleOriginKyma means that spec.forProvider.modules lists the module.
	ModuleOriginKyma ModuleOrigin = "Kyma"
	// ModuleOriginMandatory means that a ModuleReleaseMeta makes the module mandatory.
	ModuleOriginMandatory ModuleOrigin = "Mandatory"
)

// A ModuleStatus is the observed state of a module.
type ModuleStatus struct {
	// name of the module.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// version is the version that the Manifest of the module installs.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// channel is the release channel that provides the version.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Channel string `json:"channel,omitempty"`

	// origin specifies why the Kyma has the module. It is set to Mandatory if a ModuleReleaseMeta makes the module mandatory.
	// +optional
	Origin ModuleOrigin `json:"origin,omitempty"`

	// pendingVersion is the version that the module will be upgraded to, while the upgrade waits for its wave of a rollout, for a
	// maintenance window, or for the end of a deferral.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	PendingVersion string `json:"pendingVersion,omitempty"`

	// rolledBackFrom is the version whose upgrade failed and was rolled back to version.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	RolledBackFrom string `json:"rolledBackFrom,omitempty"`

	// state of the module.
	// +required
	State State `json:"state"`

	// reason is a machine-readable reason for the state: the reason of the Ready condition of the Manifest, or
	// DowngradeBlocked.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// manifest is the name of the Manifest of the module, in the namespace of the Kyma.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Manifest string `json:"manifest,omitempty"`

	// message explains why the module is not Ready. It names what to check first.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ModuleCounts are numbers of modules.
type ModuleCounts struct {
	// ready is the number of modules that are Ready.
	// +required
	Ready int32 `json:"ready"`

	// total is the number of modules that the Kyma enables.
	// +required
	Total int32 `json:"total"`
}

// StalledStatus describes why a resource cannot become Ready until you change something.
type StalledStatus struct {
	// reason is the machine-readable reason of the Stalled condition.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message is the message of the Stalled condition. It names the first module that is stalled.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// KymaObservation is the observed state of the modules of a Kyma.
type KymaObservation struct {
	// state summarizes the states of all modules.
	// +optional
	State State `json:"state,omitempty"`

	// reason is a machine-readable reason for the state. It equals the reason of the Ready condition.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message explains why the Kyma is not Ready. It names the module to check first and equals the message of the Ready
	// condition.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// stalled is set while the Stalled condition is True: the Kyma cannot become Ready until you change something. Compositions
	// can patch this field into a composite resource, because they cannot select a condition by its type.
	// +optional
	Stalled *StalledStatus `json:"stalled,omitempty"`

	// activeChannel is the last channel in which all modules were Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ActiveChannel string `json:"activeChannel,omitempty"`

	// modulesReady is the number of Ready modules out of all enabled modules, such as 2/3.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ModulesReady string `json:"modulesReady,omitempty"`

	// moduleCounts contains the counts from modulesReady as integers, for use by programs.
	// +optional
	ModuleCounts *ModuleCounts `json:"moduleCounts,omitempty"`

	// modules lists the modules that are enabled or still being removed, sorted by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Modules []ModuleStatus `json:"modules,omitempty"`
}

// A ManifestReference refers to a Manifest in the namespace of a Kyma.
type ManifestReference struct {
	// apiVersion of the Manifest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	APIVersion string `json:"apiVersion"`

	// kind of the Manifest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// name of the Manifest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
