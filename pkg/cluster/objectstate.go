// SPDX-License-Identifier: Apache-2.0

package cluster

// A Status is the kstatus status of one object.
type Status string

// These are the statuses of an object.
const (
	Current     Status = "Current"
	InProgress  Status = "InProgress"
	Failed      Status = "Failed"
	Terminating Status = "Terminating"
)

// An Outcome is how a Job or a Pod ended.
type Outcome uint8

// These are the outcomes of a Job or a Pod.
const (
	// OutcomeNone means that the Job or Pod has not ended. All other kinds have it, too.
	OutcomeNone Outcome = iota
	OutcomeSucceeded
	OutcomeFailed
)

// An ObjectState is the state of an object in a Cache. It is comparable. It has at most 128 bytes, because a map would allocate
// memory for each larger value.
type ObjectState struct {
	// UID and ResourceVersion identify the object and its revision.
	UID, ResourceVersion string
	// Set is the ID of the ApplySet that contains the object. A parent has its own ID.
	Set string
	// Owned is a hash of the fields that the engine applied and still owns. It changes when another manager changes or
	// removes one of them.
	Owned string
	// Content is a hash of all fields of an object except its metadata, or of its version if only its metadata is watched. It is zero
	// for kinds that Cache.Examine was not called for, and in responses to writes. For a CRD, it is always a hash of all fields except
	// its metadata and its status, because other bundles may use the CRD.
	Content [6]byte
	// Outcome is the outcome of a Job or a Pod.
	Outcome Outcome
	// Keep is true if the annotation helm.sh/resource-policy keeps the object when the bundle no longer contains it.
	Keep bool
	// Status is the status of the object. Message is the reason for a status other than Current.
	Status  Status
	Message string
	// Reason is why a Job or a Pod failed, for users. It is empty unless Outcome is OutcomeFailed.
	Reason string
}

// Same reports whether two states are equal except for the resource version.
func (s ObjectState) Same(o ObjectState) bool {
	s.ResourceVersion, o.ResourceVersion = "", ""
	return s == o
}
