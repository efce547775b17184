// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Verb is what is done with an object.
type Verb string

// The verbs for objects of components.
const (
	None   Verb = "None"
	Create Verb = "Create"
	Update Verb = "Update"
	Repair Verb = "Repair"
	// Wait means that the object is being deleted, and is created once it is gone.
	Wait Verb = "Wait"
	// Leave means that the object is the custom resource of the bundle, which its users deleted. It stays away.
	Leave Verb = "Leave"
	// Spare means that the object is a CRD that was changed, and cannot be repaired now.
	Spare Verb = "Spare"
)

// The verbs for objects that the bundle no longer has.
const (
	// Prune means that the object is deleted, unless it is to be kept or is no longer that of the bundle.
	Prune Verb = "Prune"
	// HandOver means that the object is a CRD that another part has, too. It belongs to that part from then on.
	HandOver Verb = "HandOver"
	// Orphan means that the object stays, and leaves the inventory.
	Orphan Verb = "Orphan"
)

// Sends reports whether the object is applied.
func (v Verb) Sends() bool { return v == Create || v == Update || v == Repair }

// Facts are what the verb of an object depends on.
type Facts struct {
	// Entry of the object in the inventory, as Intend writes it.
	Entry inventory.Entry
	// State of the object, as far as it is known. Exists is false where none is known.
	State  cluster.ObjectState
	Exists bool
	// Repairs is true for an object that drifted and is to be repaired, and Spared for a CRD that cannot be.
	Repairs, Spared bool
}

// VerbOf an object of a component.
func VerbOf(o *object.Desired, f Facts) Verb {
	switch {
	case f.Exists && f.State.Status == cluster.Terminating:
		// The API server would change an object that is being deleted.
		return Wait
	case f.Entry.IsDismissed(f.Exists):
		if f.Entry.Intent != o.Hash {
			return Leave
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
