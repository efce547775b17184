// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A State summarizes the conditions of a module.
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

// InstallStatus is the observed state of an install.
type InstallStatus struct {
	// Name of the install.
	Name string `json:"name"`

	// State of the install.
	State State `json:"state"`

	// Version of the installed chart.
	// +optional
	Version string `json:"version,omitempty"`

	// Message explains why the install is not Ready. It names what to check first.
	// +optional
	Message string `json:"message,omitempty"`
}

// ResourceCounts are numbers of objects in the target cluster.
type ResourceCounts struct {
	// Ready is the number of objects that are ready.
	Ready int32 `json:"ready"`

	// Total is the number of all objects.
	Total int32 `json:"total"`
}

// A TestStatus is the result of a test of a chart.
type TestStatus struct {
	// Install that the test belongs to.
	Install string `json:"install"`

	// Name of the test: its kind and name.
	Name string `json:"name"`

	// State of the test: Processing, Ready if it succeeded, or Error.
	State State `json:"state"`

	// Message explains why the test failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// TestsStatus is the result of the most recently requested tests.
type TestsStatus struct {
	// Token is the value of the annotation kyma.m.crossplane.io/test that requested the tests.
	Token string `json:"token"`

	// State of all tests: Processing, Ready if all succeeded, or Error.
	State State `json:"state"`

	// Tests in the order in which they run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tests []TestStatus `json:"tests,omitempty"`
}

// A PlannedObject is an object that applying the Manifest would create, change or delete.
type PlannedObject struct {
	// Action is Create, Change, Recreate or Prune.
	// +kubebuilder:validation:Enum=Create;Change;Recreate;Prune
	Action string `json:"action"`

	// Object is the kind and name of the object, such as Deployment default/web.
	Object string `json:"object"`

	// Fields that would change, as paths. Values are never shown.
	// +optional
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// A PlanStatus reports what applying the Manifest would do.
type PlanStatus struct {
	// ObservedGeneration is the generation of the Manifest that the plan is for.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Create is the number of objects that would be created.
	Create int32 `json:"create"`

	// Change is the number of objects that would be changed, including those that would be deleted and recreated.
	Change int32 `json:"change"`

	// Prune is the number of objects that would be deleted.
	Prune int32 `json:"prune"`

	// Objects that would be created, changed or deleted. At most 64 are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objects []PlannedObject `json:"objects,omitempty"`

	// Problems is the number of objects and installs that cannot be planned or would be refused.
	// +optional
	Problems int32 `json:"problems,omitempty"`

	// Message lists the problems and their reasons, followed by other notes on the plan.
	// +optional
	Message string `json:"message,omitempty"`
}

// A RollbackStatus reports an upgrade that is in progress or was rolled back.
type RollbackStatus struct {
	// Desired is a digest of the desired state that the upgrade leads to. A rollback ends when the desired state
	// changes.
	Desired string `json:"desired"`

	// Since is the time at which the upgrade began.
	Since metav1.Time `json:"since"`

	// RolledBack is true after the last known good revision was restored.
	// +optional
	RolledBack bool `json:"rolledBack,omitempty"`

	// Version that was restored.
	// +optional
	Version string `json:"version,omitempty"`

	// Message explains why the upgrade failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// ManifestObservation is the observed state of a Manifest in the target cluster.
type ManifestObservation struct {
	// State summarizes the states of all installs.
	// +optional
	State State `json:"state,omitempty"`

	// Version that is installed.
	// +optional
	Version string `json:"version,omitempty"`

	// Message explains why the Manifest is not Ready. It names what to check first.
	// +optional
	Message string `json:"message,omitempty"`

	// Installs in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Installs []InstallStatus `json:"installs,omitempty"`

	// Resources are the numbers of installed objects.
	// +optional
	Resources *ResourceCounts `json:"resources,omitempty"`

	// LastDrift lists the objects and fields of the drift that was detected most recently. It was repaired unless the
	// drift policy is Report. Values are never shown.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LastDrift string `json:"lastDrift,omitempty"`

	// Plan reports what applying the Manifest would do. It is set if nothing is applied, because of managementPolicies
	// ["Observe"] or the annotation kyma.m.crossplane.io/plan.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`

	// Rollback reports an upgrade that is not Ready yet or was rolled back. It is set only if spec.forProvider.rollback
	// is.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// Tests are the results of the most recently requested tests.
	// +optional
	Tests *TestsStatus `json:"tests,omitempty"`
}
