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

// Intend adds or updates the inventory entry of each object that is about to be applied. Restarted contains the objects whose
// contention ends because their inputs changed; their contended fields are applied again. Save is true if the inventory must be
// saved before any object is written, because objects are new or change, or because the recorded inputs of a part no longer match
// the cluster.
func Intend(inv *inventory.Inventory, components []*compose.Component) (restarted map[cluster.ObjectRef]bool, save bool) {
	save = intendParts(inv, components)
	idx := inv.Index()
	restarted = map[cluster.ObjectRef]bool{}
	var added []inventory.Entry
	for _, c := range components {
		for i := range c.Objects {
			o := &c.Objects[i]
			en := idx[o.Ref]
			if en == nil {
				added = append(added, inventory.EntryOf(o))
				continue
			}
			if c.Purpose == compose.Advance && slices.ContainsFunc(en.Ceded, isContended) {
				restarted[o.Ref] = true
			}
			was := en.Intent
			*en = intended(en, o, restarted[o.Ref])
			save = save || en.Intent != was && en.Intent == inventory.IntentUnknown
		}
	}
	inv.Objects = append(inv.Objects, added...)
	// The stored inventory is sorted, and the comparison depends on the order.
	inv.Sort()
	return restarted, save || len(added) > 0
}

// intendParts sets the record of each part. It returns true if the recorded inputs of a part no longer match the cluster.
func intendParts(inv *inventory.Inventory, components []*compose.Component) (save bool) {
	for _, c := range components {
		old, ok := inv.Parts[c.Name]
		save = save || !ok || old.Digest != c.Record.Digest || old.ReleaseOf(c.Name) != c.Record.ReleaseOf(c.Name)
		inv.Parts[c.Name] = c.Record
	}
	return save
}

// intended returns the updated entry of an object that is about to be applied. If restarts is true, the contention of the object
// ends.
func intended(en *inventory.Entry, o *object.Desired, restarts bool) inventory.Entry {
	out := *en
	out.Part, out.Stage, out.Version, out.Pruned, out.Keep, out.Expires = o.Part, o.Stage, o.Version, false, o.Keep, o.Expires
	if en.Part == object.PartLost && object.IsReplaceable(o.Ref.GroupKind()) {
		// The mark of a rebuilt entry only protects objects that no part contains.
		out.Adopted = false
	}
	if restarts {
		out.Ceded = slices.DeleteFunc(slices.Clone(en.Ceded), isContended)
		out.Intent, out.Restores = "", nil
	}
	if out.Intent != "" && out.Intent != o.Hash {
		// If the run ends before its outcome is saved, the object may have been applied. The former form is then not in the cluster.
		out.Intent = inventory.IntentUnknown
	}
	return out
}

func isContended(c ownership.Ceded) bool { return c.Contended() }
