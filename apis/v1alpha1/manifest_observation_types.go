// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// A TestStatus is what became of one test of a chart.
type TestStatus struct {
	// Install that the test belongs to.
	Install string `json:"install"`

	// Name of the test: its kind and name.
	Name string `json:"name"`

	// State of the test: Processing, Ready where it succeeded, or Error.
	State State `json:"state"`

	// Message says why it failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// TestsStatus is what became of the tests that were asked for last.
type TestsStatus struct {
	// Token is the value of annotation kyma.m.crossplane.io/test that asked for them.
	Token string `json:"token"`

	// State of all of them: Processing, Ready where all succeeded, or Error.
	State State `json:"state"`

	// Tests in the order in which they run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tests []TestStatus `json:"tests,omitempty"`
}

// A PlannedObject is one object that an application would create, change or prune.
type PlannedObject struct {
	// Action is Create, Change, Recreate or Prune.
	// +kubebuilder:validation:Enum=Create;Change;Recreate;Prune
	Action string `json:"action"`

	// Object by kind and name: Deployment default/web.
	Object string `json:"object"`

	// Fields that would change, as paths; values are never shown.
	// +optional
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// A PlanStatus is what applying the Manifest would do.
type PlanStatus struct {
	// ObservedGeneration of the Manifest that was planned.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Create counts the objects that would be created.
	Create int32 `json:"create"`

	// Change counts the objects that would be changed, those that would be deleted and created anew among them.
	Change int32 `json:"change"`

	// Prune counts the objects that would be deleted.
	Prune int32 `json:"prune"`

	// Objects that would be created, changed or pruned; at most 64 of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objects []PlannedObject `json:"objects,omitempty"`

	// Problems counts what cannot be planned, or would be refused.
	// +optional
	Problems int32 `json:"problems,omitempty"`

	// Message says what cannot be planned, and why, and then what else there is to know.
	// +optional
	Message string `json:"message,omitempty"`
}

// A RollbackStatus says that an upgrade is being watched, or was rolled back.
type RollbackStatus struct {
	// Desired is a digest of what the Manifest wants and what did not work. Another one ends the rollback.
	Desired string `json:"desired"`

	// Since is when the upgrade to it began.
	Since metav1.Time `json:"since"`

	// RolledBack says that the last good state was brought back.
	// +optional
	RolledBack bool `json:"rolledBack,omitempty"`

	// Version that was brought back.
	// +optional
	Version string `json:"version,omitempty"`

	// Message is what was wrong with the upgrade.
	// +optional
	Message string `json:"message,omitempty"`
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

	// LastDrift names the objects and fields that were found changed or deleted in the target cluster last, and were put
	// back unless drift is Report; values are never shown.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LastDrift string `json:"lastDrift,omitempty"`

	// Plan is what applying the Manifest would do. It is there where nothing is applied: with managementPolicies [Observe]
	// or annotation kyma.m.crossplane.io/plan.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`

	// Rollback says that an upgrade is not Ready yet, or was rolled back. It is there only where rollback is set.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// Tests are the tests of charts that were asked for last.
	// +optional
	Tests *TestsStatus `json:"tests,omitempty"`
}
