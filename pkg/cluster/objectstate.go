// SPDX-License-Identifier: Apache-2.0

package cluster

// A Status is the status of one object in the terms of kstatus.
type Status string

// The statuses of an object.
const (
	Current     Status = "Current"
	InProgress  Status = "InProgress"
	Failed      Status = "Failed"
	Terminating Status = "Terminating"
)

// An Outcome is how a Job or a Pod ended.
type Outcome uint8

// The outcomes of a Job or a Pod.
const (
	// OutcomeNone is that of one that has not ended, and of all other kinds.
	OutcomeNone Outcome = iota
	OutcomeSucceeded
	OutcomeFailed
)

// An ObjectState is all that a Cache keeps of an object. It is comparable, and has at most 128 bytes: a larger one would be an
// allocation of its own in a map.
type ObjectState struct {
	// UID and ResourceVersion of the object.
	UID, ResourceVersion string
	// Set is the ID of the ApplySet that the object is part of. A parent has its own ID.
	Set string
	// Owned is a hash of the fields that the engine applied and still owns. It changes when another manager takes or removes
	// one of them.
	Owned string
	// Content is a hash of everything but the metadata of a custom resource, because readiness rules may read any field. It is
	// zero for all other kinds.
	Content [6]byte
	// Outcome of a Job or a Pod; Reason says why it failed.
	Outcome Outcome
	// Keep is true where the annotation helm.sh/resource-policy asks to keep the object when it is no longer part of the bundle.
	Keep bool
	// Status of the object, and the reason for a status other than Current.
	Status  Status
	Message string
	// Reason of OutcomeFailed, as users read it; empty for any other.
	Reason string
}

// Same reports whether two states differ in nothing but the resource version.
func (s ObjectState) Same(o ObjectState) bool {
	s.ResourceVersion, o.ResourceVersion = "", ""
	return s == o
}
