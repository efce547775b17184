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
	// name of the install.
	// +required
	// +kubebuilder:validation:MaxLength=53
	Name string `json:"name"`

	// state of the install.
	// +required
	State State `json:"state"`

	// version of the installed chart.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// message explains why the install is not Ready. It names what to check first.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ResourceCounts are numbers of objects in the target cluster.
type ResourceCounts struct {
	// ready is the number of objects that are ready.
	// +required
	Ready int32 `json:"ready"`

	// total is the number of installed objects.
	// +required
	Total int32 `json:"total"`
}

// An ObjectReference identifies an object in the target cluster, regardless of its API version.
type ObjectReference struct {
	// group of the kind, such as apps. It is empty for the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`

	// kind of the object, such as Deployment.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// namespace of the object. It is empty for a cluster-scoped object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A TestStatus is the result of a test of a chart.
type TestStatus struct {
	// install is the name of the install that the test belongs to.
	// +required
	// +kubebuilder:validation:MaxLength=53
	Install string `json:"install"`

	// kind of the test: usually Pod or Job.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// namespace of the test. It is empty for a cluster-scoped object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the test.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// state of the test: Processing, Ready if it succeeded, or Error.
	// +required
	State State `json:"state"`

	// message explains why the test failed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// TestsStatus is the result of the most recently requested tests.
type TestsStatus struct {
	// token is the value of the annotation kyma.m.crossplane.io/test that requested the tests.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Token string `json:"token"`

	// state of all tests: Ready if all succeeded, Error if any failed, and Processing otherwise.
	// +required
	State State `json:"state"`

	// tests lists the tests in the order in which they run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tests []TestStatus `json:"tests,omitempty"`
}

// A PlannedObject is an object that applying the Manifest would create, change or delete.
type PlannedObject struct {
	// action is Create, Change, Recreate or Prune.
	// +required
	// +kubebuilder:validation:Enum=Create;Change;Recreate;Prune
	Action string `json:"action"`

	ObjectReference `json:",inline"`

	// fields lists the paths of the fields that would change. Values are never shown. At most 16 fields are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Fields []string `json:"fields,omitempty"`

	// omittedFields is the number of fields that would change but are not listed.
	// +optional
	OmittedFields int32 `json:"omittedFields,omitempty"`
}

// A PlanStatus reports what applying the Manifest would do.
type PlanStatus struct {
	// observedGeneration is the generation of the Manifest that the plan was made for.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// create is the number of objects that would be created.
	// +required
	Create int32 `json:"create"`

	// change is the number of objects that would be changed, including those that would be deleted and recreated.
	// +required
	Change int32 `json:"change"`

	// prune is the number of objects that would be deleted.
	// +required
	Prune int32 `json:"prune"`

	// objects lists the objects that would be created, changed or deleted, up to 64.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objects []PlannedObject `json:"objects,omitempty"`

	// problems is the number of objects and installs that cannot be planned or would be rejected.
	// +optional
	Problems int32 `json:"problems,omitempty"`

	// message lists the problems and their reasons, followed by other notes on the plan.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// A DriftedObject is an object that another client changed or deleted.
type DriftedObject struct {
	ObjectReference `json:",inline"`

	// change describes what happened to the object: Changed, Deleted, Replaced (by another object of the module with the same
	// name), ReplacedByOther (by an object with the same name that does not belong to the module), or TakenOver (by another
	// Manifest, which now owns it).
	// +required
	Change DriftChange `json:"change"`

	// fields lists the paths of the fields that were changed or removed, if known. Values are never shown. At most 16 fields
	// are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Fields []string `json:"fields,omitempty"`

	// omittedFields is the number of changed fields that are not listed.
	// +optional
	OmittedFields int32 `json:"omittedFields,omitempty"`
}

// A DriftChange describes what another client did to an object.
// +kubebuilder:validation:Enum=Changed;Deleted;Replaced;ReplacedByOther;TakenOver
type DriftChange string

// The changes of other clients.
const (
	DriftChangeChanged         DriftChange = "Changed"
	DriftChangeDeleted         DriftChange = "Deleted"
	DriftChangeReplaced        DriftChange = "Replaced"
	DriftChangeReplacedByOther DriftChange = "ReplacedByOther"
	DriftChangeTakenOver       DriftChange = "TakenOver"
)

// A DriftStatus reports what other clients changed or deleted.
type DriftStatus struct {
	// observedTime is the time when this drift was first detected. Detecting the same drift again does not change it.
	// +required
	ObservedTime metav1.Time `json:"observedTime"`

	// objects lists the objects that were changed or deleted, sorted by kind, namespace and name. At most 32 objects are listed.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Objects []DriftedObject `json:"objects"`

	// omittedObjects is the number of changed or deleted objects that are not listed.
	// +optional
	OmittedObjects int32 `json:"omittedObjects,omitempty"`
}

// A CededCause is why a field is left to another field manager.
// +kubebuilder:validation:Enum=Convention;Conflict
type CededCause string

// The causes.
const (
	// CededByConvention means that the manager is expected to set the field, as an autoscaler sets replicas.
	CededByConvention CededCause = "Convention"
	// CededAfterConflict means that the field was repaired several times, and that the manager set it again each time.
	CededAfterConflict CededCause = "Conflict"
)

// A CededField is a field that a module sets but that the provider leaves to another field manager.
type CededField struct {
	ObjectReference `json:",inline"`

	// field is the path of the field.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Field string `json:"field"`

	// manager is the field manager that sets the field, as in metadata.managedFields of the object. It is empty if unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Manager string `json:"manager,omitempty"`

	// cause is Convention if the manager is expected to set the field, such as an autoscaler that sets replicas. It is Conflict
	// if the provider repaired the field several times and the manager changed it again each time.
	// +required
	Cause CededCause `json:"cause"`
}

// A RollbackStatus reports an upgrade that is in progress or was rolled back.
type RollbackStatus struct {
	// desired is a digest of the desired state of the upgrade. A rollback ends when the desired state changes.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Desired string `json:"desired"`

	// since is the time when the upgrade began.
	// +required
	Since metav1.Time `json:"since"`

	// rolledBack is true after the last known good revision was restored.
	// +optional
	RolledBack bool `json:"rolledBack,omitempty"`

	// version is the version that was restored.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// message explains why the upgrade failed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ManifestObservation is the observed state of a Manifest in the target cluster.
type ManifestObservation struct {
	// state summarizes the states of all installs.
	// +optional
	State State `json:"state,omitempty"`

	// version is the installed version of the module.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Version string `json:"version,omitempty"`

	// message explains why the Manifest is not Ready. It names what to check first.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// installs lists the state of each install, in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=34
	Installs []InstallStatus `json:"installs,omitempty"`

	// clusterUID is the UID of the kube-system namespace of the cluster that the module is installed in. If the ProviderConfig
	// points to a different cluster, nothing is changed in either cluster until the annotation
	// kyma.m.crossplane.io/cluster-changed of the Manifest is set to the UID of the new cluster. It is empty if the credentials
	// do not grant access to that namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`

	// resources counts the installed objects.
	// +optional
	Resources *ResourceCounts `json:"resources,omitempty"`

	// drift is the most recently detected drift. It was repaired unless the drift policy is Report. It stays in the status
	// until other drift is detected.
	// +optional
	Drift *DriftStatus `json:"drift,omitempty"`

	// cededFields lists fields that the module sets but that are ceded to other field managers. At most 32 fields are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	CededFields []CededField `json:"cededFields,omitempty"`

	// omittedCededFields is the number of ceded fields that are not listed.
	// +optional
	OmittedCededFields int32 `json:"omittedCededFields,omitempty"`

	// plan reports what applying the Manifest would do. It is set if changes are not applied because managementPolicies is
	// ["Observe"] or mode is Plan.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`

	// rollback reports an upgrade that is not Ready yet or was rolled back. It is set only if spec.forProvider.rollback is set.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// tests reports the results of the most recently requested tests.
	// +optional
	Tests *TestsStatus `json:"tests,omitempty"`
}
