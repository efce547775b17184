// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Decision is the action for one object to remove.
type Decision string

// These are the decisions.
const (
	// Gone and NotOurs require no action: the object does not exist, or is not a member.
	Gone    Decision = "gone"
	NotOurs Decision = "not ours"
	// Confirm reads an applied object that the watch does not show as a member, before anything is deleted. If the watch only shows that
	// later, the next call reads the object.
	Confirm Decision = "confirm"
	// Ask reads an object that may have been created by a request whose response was lost.
	Ask Decision = "ask"
	// Refuse ends the removal with an error because the credentials may not read an applied object.
	Refuse Decision = "refuse"
	// Orphan keeps the object in the cluster, without the labels of a member.
	Orphan Decision = "orphan"
	// Unuse removes the mark of the bundle from a CRD of another owner.
	Unuse Decision = "unuse"
	// Delete deletes the object. Wait waits until it is gone.
	Delete Decision = "delete"
	Wait   Decision = "wait"
)

// IsMember reports whether the decision means that the object exists and is a member.
func (d Decision) IsMember() bool { return d == Orphan || d == Delete || d == Wait }

// A Pass is one pass over the objects of a removal.
type Pass int

// These are the passes, in order.
const (
	Confirming Pass = iota
	Orphaning
	// Deleting no longer orphans objects. An object that must be kept since then waits for the next call, which first keeps the objects that
	// it needs.
	Deleting
)

// A Knowledge is the source of the state of an object.
type Knowledge int

const (
	// Watched means that the state comes from the watch, which shows only objects with the label of the engine and may lag behind.
	Watched Knowledge = iota
	// Asked means that a request of this call returned the state.
	Asked
	// Remembered means that an earlier call found that the object is gone or is not a member.
	Remembered
	// Denied means that the state is unknown because the credentials may not read the object.
	Denied
	// Done means that this call orphaned the object or found that it is gone.
	Done
)

// Facts holds everything that a decision on an object depends on.
type Facts struct {
	Pass  Pass
	Known Knowledge
	// State is the state of the object, or nil if it is unknown.
	State *cluster.ObjectState
	// DeleteAdopted is true if adopted objects are deleted like all others.
	DeleteAdopted bool
	// Inherited is true for a CRD that the bundle used before, and owns now.
	Inherited bool
}

// Decide returns the decision on an object to remove. The set is the ID of the ApplySet.
func Decide(e *inventory.Entry, f Facts, set string) Decision {
	switch {
	case f.Known == Done, f.Known == Denied && e.UID == "":
		// Credentials that may not read an object did not create it.
		return Gone
	case f.Known == Denied:
		return Refuse
	case isUsed(e, f):
		return Unuse
	case f.State != nil && f.State.Set == set:
		return decideMember(e, f)
	case isDoubtful(e, f) && f.isConfirmed():
		return Confirm
	case f.State != nil:
		return NotOurs
	case e.UID == "" && f.Known != Asked:
		return Ask
	}
	return Gone
}

// isConfirmed reports whether the pass confirms doubtful objects: the first one confirms all of them, and the deleting one those that exist.
func (f *Facts) isConfirmed() bool {
	return f.Pass == Confirming || f.Pass == Deleting && f.State != nil
}

// isUsed reports whether an object is a CRD of another owner that the bundle uses.
func isUsed(e *inventory.Entry, f Facts) bool { return e.IsUsed() && !f.Inherited }

// decideMember returns the decision on an object that exists and is a member.
func decideMember(e *inventory.Entry, f Facts) Decision {
	switch {
	case f.Pass != Deleting && (e.Keep || f.State.Keep || isReleased(e, f.DeleteAdopted)):
		return Orphan
	case f.State.Status == cluster.Terminating:
		return Wait
	}
	return Delete
}

// isReleased reports whether an object stays because it existed before the bundle adopted it.
func isReleased(e *inventory.Entry, deleteAdopted bool) bool { return e.Adopted && !deleteAdopted }

// isDoubtful reports whether an applied object that is not known as a member may still be one. It returns false for an object
// that a request did not find, because a second request is unnecessary.
func isDoubtful(e *inventory.Entry, f Facts) bool {
	return e.UID != "" && f.Known != Remembered && (f.Known != Asked || f.State != nil)
}

// A Finding classifies the object that has the name of a member.
type Finding string

// These are the findings.
const (
	// Absent means that the object does not exist.
	Absent Finding = "absent"
	// Member means that the object is the applied one, or another object with the label of the ApplySet.
	Member Finding = "member"
	// Orphaned means that the ApplySet orphaned the object earlier.
	Orphaned Finding = "orphaned"
	// Foreign means that the object is none of the above. It is left behind.
	Foreign Finding = "foreign"
)

// Identify classifies the object that a request found under the name of a member. Pass nil if it found none. Watches select by a
// label that anyone can remove, so the applied object is a member even without it, unless another bundle owns it now or it was
// orphaned. Orphaning removes all labels of a member in one request, but an object that is applied again keeps AnnotationKeptBy. So the
// label of the engine shows that the object was applied since.
func Identify(e *inventory.Entry, m *metav1.PartialObjectMetadata, set string) Finding {
	if m == nil {
		return Absent
	}
	owner, handedOverBy := m.Labels[object.LabelPartOf], m.Annotations[object.AnnotationHandedOver]
	orphanedBy := cmp.Or(handedOverBy, m.Annotations[object.AnnotationKeptBy])
	again := orphanedBy == set && handedOverBy == "" && m.Labels[object.LabelManagedBy] != ""
	switch {
	case owner == set, string(m.UID) == e.UID && owner == "" && (orphanedBy == "" || again):
		return Member
	case orphanedBy == set:
		return Orphaned
	}
	return Foreign
}

// isUnclaimed reports whether the engine applied an object that no bundle owns or has kept. The object may have lost its labels.
func isUnclaimed(m *metav1.PartialObjectMetadata, manager string) bool {
	keptBy := cmp.Or(m.Annotations[object.AnnotationHandedOver], m.Annotations[object.AnnotationKeptBy])
	return m.Labels[object.LabelPartOf] == "" && keptBy == "" && fieldset.AppliedBy(manager, m.ManagedFields) != nil
}

// whyForeign returns the difference between a foreign object and the applied one. Owner is the name of the owner of the other
// ApplySet that the object belongs to, or empty.
func whyForeign(e *inventory.Entry, m *metav1.PartialObjectMetadata, owner string) string {
	set := m.Labels[object.LabelPartOf]
	switch {
	case owner != "":
		return "belongs to " + owner
	case set != "":
		return "belongs to another owner, label " + object.LabelPartOf + ": " + set
	case string(m.UID) != e.UID:
		return "recreated by another client"
	}
	return "has no label " + object.LabelPartOf + ", and is kept by another owner"
}
