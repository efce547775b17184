// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A Verb is what is done with an object of a component.
type Verb string

// The verbs.
const (
	None   Verb = "None"
	Create Verb = "Create"
	Update Verb = "Update"
	Repair Verb = "Repair"
	// Wait means that the object is being deleted, and is created once it is gone.
	Wait Verb = "Wait"
	// Spare means that the object is a CRD that was changed, and cannot be repaired now.
	Spare Verb = "Spare"
)

// Sends reports whether the object is applied.
func (v Verb) Sends() bool { return v == Create || v == Update || v == Repair }

// Facts are what the verb of an object depends on.
type Facts struct {
	// Entry of the object in the inventory, as Intend returns it.
	Entry inventory.Entry
	// State of the object, as far as it is known. Exists is false where none is known.
	State  cluster.ObjectState
	Exists bool
	// Repairs is true for an object that drifted and is to be repaired, and Spared for a CRD that cannot be.
	Repairs, Spared bool
}

// VerbOf an object.
func VerbOf(o *object.Desired, f Facts) Verb {
	switch {
	case f.Exists && f.State.Status == cluster.Terminating:
		// The API server would change an object that is being deleted.
		return Wait
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

// Intend returns the entry of an object of a component as it is before the object is applied. The entry in the inventory is nil for none.
// Other inputs than before end a contention: the fields that were ceded after it are applied again.
func Intend(c *compose.Component, o *object.Desired, en *inventory.Entry) inventory.Entry {
	if en == nil {
		return inventory.EntryOf(o)
	}
	out := *en
	out.Part, out.Stage, out.Version, out.Pruned, out.Keep = o.Part, o.Stage, o.Version, false, o.Keep
	if c.Purpose == compose.Advance && IsContended(en) {
		out.Yields = slices.DeleteFunc(slices.Clone(en.Yields), isContended)
		out.Intent = ""
	}
	return out
}

// IsContended reports whether fields of an entry were ceded after a contention.
func IsContended(en *inventory.Entry) bool { return slices.ContainsFunc(en.Yields, isContended) }

func isContended(c ownership.Ceded) bool { return c.Contended() }
