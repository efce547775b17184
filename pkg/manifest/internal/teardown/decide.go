// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Decision says what to do with one object that is to go.
type Decision string

// The decisions.
const (
	// Gone and NotOurs need nothing: the object does not exist, or it is not a member.
	Gone    Decision = "gone"
	NotOurs Decision = "not ours"
	// Confirm asks for an object that was applied, and that the watch does not show as a member, before anything is deleted.
	Confirm Decision = "confirm"
	// Ask asks for an object that may have been created by a request whose answer never came.
	Ask Decision = "ask"
	// Refuse ends the removal with an error: the credentials may not read an object that was applied.
	Refuse Decision = "refuse"
	// Orphan keeps the object in the cluster, without the labels of a member.
	Orphan Decision = "orphan"
	// Delete deletes the object, and Wait waits until it is gone.
	Delete Decision = "delete"
	Wait   Decision = "wait"
)

// IsMember reports whether the object exists and is a member.
func (d Decision) IsMember() bool { return d == Orphan || d == Delete || d == Wait }

// A Phase is how far a removal is.
type Phase int

// The phases, in their order.
const (
	Confirming Phase = iota
	Orphaning
	// Deleting is the phase in which Orphan is no decision any more: what the object needs is not kept with it.
	Deleting
)

// A Knowledge says where the state of an object is from.
type Knowledge int

const (
	// Watched is the knowledge of the watch. It shows the objects with the label of the engine only, and may lag behind.
	Watched Knowledge = iota
	// Asked is the answer to a request of this call.
	Asked
	// Settled is an earlier answer: the object was gone, or not a member.
	Settled
	// Denied is none: the credentials may not read the object.
	Denied
	// Done is that of this call, which orphaned the object or found it gone.
	Done
)

// Facts are all that a decision on an object depends on.
type Facts struct {
	Phase Phase
	Known Knowledge
	// State of the object; nil where none is known.
	State *cluster.ObjectState
}

// Decide what to do with an object of an ApplySet that is to go.
func Decide(e *inventory.Entry, f Facts, set string) Decision {
	switch {
	case f.Known == Done, f.Known == Denied && e.UID == "":
		// Credentials that may not read an object have not created it either.
		return Gone
	case f.Known == Denied:
		return Refuse
	case f.State != nil && f.State.Set == set:
		return decideMember(e, f)
	case f.Phase == Confirming && isDoubtful(e, f):
		return Confirm
	case f.State != nil:
		return NotOurs
	case e.UID == "" && f.Known != Asked:
		return Ask
	}
	return Gone
}

// decideMember decides on an object that exists and is a member.
func decideMember(e *inventory.Entry, f Facts) Decision {
	switch {
	case f.Phase != Deleting && (e.Keep || f.State.Keep):
		return Orphan
	case f.State.Status == cluster.Terminating:
		return Wait
	}
	return Delete
}

// isDoubtful reports whether nothing proves that an object which was applied, and which is not known as a member, is gone or not
// a member. An object that a request did not find needs no second request.
func isDoubtful(e *inventory.Entry, f Facts) bool {
	return e.UID != "" && f.Known != Settled && (f.Known != Asked || f.State != nil)
}

// An Identity says what an object is that has the name of a member.
type Identity string

// The identities.
const (
	// Absent is that of an object that does not exist.
	Absent Identity = "absent"
	// Member is that of the object that was applied, or of another one with the label of the ApplySet.
	Member Identity = "member"
	// Orphaned is that of an object that the ApplySet kept before.
	Orphaned Identity = "orphaned"
	// Foreign is that of any other object, which is left behind.
	Foreign Identity = "foreign"
)

// Identify the object that a request found in the place of a member; nil where it found none. Watches select by a label that
// anyone can remove: the very object that was applied is a member without it, too, unless it belongs to another bundle by now or was
// orphaned.
func Identify(e *inventory.Entry, m *metav1.PartialObjectMetadata, set string) Identity {
	if m == nil {
		return Absent
	}
	owner, orphanedBy := m.Labels[object.LabelPartOf], m.Annotations[object.AnnotationKeptBy]
	switch {
	case owner == set, string(m.UID) == e.UID && owner == "" && orphanedBy == "":
		return Member
	case orphanedBy == set:
		return Orphaned
	}
	return Foreign
}
