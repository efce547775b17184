// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Verb is an action on an object.
type Verb string

// These are the verbs for objects of components.
const (
	None   Verb = "None"
	Create Verb = "Create"
	Update Verb = "Update"
	Repair Verb = "Repair"
	// Wait means that the object is being deleted, and is recreated once it is gone.
	Wait Verb = "Wait"
	// Skip means that the object is the custom resource of the bundle and that, as far as the watch shows, its users deleted it. It is not
	// recreated. Because the watch may lag, the run confirms the deletion with a request.
	Skip Verb = "Skip"
	// Spare means that the object is a CRD that was changed and cannot be repaired now.
	Spare Verb = "Spare"
)

// These are the verbs for objects that the bundle no longer contains.
const (
	// Prune means that the object is deleted, unless it must be kept or no longer belongs to the bundle.
	Prune Verb = "Prune"
	// HandOver means that the object is a CRD that another part also contains. It belongs to that part from now on.
	HandOver Verb = "HandOver"
	// Orphan means that the object stays in the cluster and its entry is removed from the inventory.
	Orphan Verb = "Orphan"
)

// Sends reports whether the verb applies the object.
func (v Verb) Sends() bool { return v == Create || v == Update || v == Repair }

// Eventually returns the verb for an object once nothing delays the action, given the entry of the object in the inventory. It
// differs from the verb only for objects that are being deleted: once such an object is gone, it is created, unless it is the
// custom resource of the bundle, which its users may delete.
func (v Verb) Eventually(en *inventory.Entry) Verb {
	switch {
	case v != Wait:
		return v
	case en.IsDismissed(false):
		return Skip
	}
	return Create
}

// Facts holds everything that determines the verb of an object.
type Facts struct {
	// Entry is the entry of the object in the inventory, as written by Intend.
	Entry inventory.Entry
	// State is the state of the object, if it is known. Exists is false if the state is unknown or the object is missing.
	State  cluster.ObjectState
	Exists bool
	// Repairs is true for a drifted object that must be repaired. Spared is true for a CRD that cannot be repaired.
	Repairs, Spared bool
}

// VerbOf returns the verb for an object of a component.
func VerbOf(o *object.Desired, f Facts) Verb {
	leaves := f.Exists && f.State.Status == cluster.Terminating
	switch {
	case f.Entry.IsExpired(f.Exists && !leaves) && f.Entry.Intent == o.Hash:
		return None
	case leaves:
		// The API server would accept changes to an object that is being deleted.
		return Wait
	case f.Entry.IsDismissed(f.Exists):
		if f.Entry.Intent != o.Hash {
			return Skip
		}
		return None
	case f.Spared:
		return Spare
	case f.Repairs:
		return Repair
	case f.Entry.UID == "":
		return Create
	case f.Entry.Intent != o.Hash:
		return Update
	}
	return None
}
