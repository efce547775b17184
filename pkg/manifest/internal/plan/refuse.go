// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A CRDChange is a CRD that is about to change. If it exists, the caller must check the change.
type CRDChange struct {
	Object *object.Desired
	// Entry is the entry of the CRD in the inventory, or the zero value.
	Entry inventory.Entry
	// Known is true if the CRD was applied or is known to exist. Any other CRD may still exist, because of an interrupted call, a
	// bundle whose inventory was lost, or another owner.
	Known bool
}

// CRDChanges returns the CRDs that are about to change.
func (d *Draft) CRDChanges() []CRDChange {
	idx := d.Inventory.Index()
	var out []CRDChange
	for _, c := range d.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			if o.Stage != object.StageCRDs {
				continue
			}
			_, exists := d.Objects[o.Ref]
			change := CRDChange{Object: o, Known: exists}
			if en := idx[o.Ref]; en != nil {
				change.Entry = *en
			}
			if change.Entry.UID != "" {
				if change.Entry.Intent == o.Hash && !d.Repairs[o.Ref] {
					continue
				}
				change.Known = true
			}
			out = append(out, change)
		}
	}
	return out
}

// refusals returns the decisions on the components whose CRDs are refused and on those that this blocks. Blocks is true if all
// components except repairs are blocked, so that a module does not end up between two versions. Repairs are not blocked, because
// they were applied before and work with the existing CRDs. Blocked parts may contain objects that are not in the inventory.
func (d *Draft) refusals(refused map[cluster.ObjectRef]error) (out Decisions, blocks bool) {
	reason := ""
	for _, c := range d.Components {
		for i := range c.Objects {
			ref := c.Objects[i].Ref
			err := refused[ref]
			switch {
			case err == nil:
			case c.Purpose.Restores() && d.uses(ref):
				out = append(out, Fail(c.Name, Spared, errors.Wrap(err, ref.String())))
			case c.Purpose.Restores():
				out = append(out, Fail(c.Name, Spared, errors.Wrapf(err, "%s: drift is not repaired", ref)))
			default:
				out = append(out, Fail(c.Name, Dropped, errors.Wrap(err, ref.String())))
				if !blocks {
					reason, blocks = fmt.Sprintf("is waiting for %s of %s to be applied", ref, c.Name), true
				}
			}
		}
	}
	if !blocks {
		return out, false
	}
	for _, c := range d.Components {
		_, failed := out.Failure(c.Name)
		if c.Purpose == compose.Advance && !failed {
			out = append(out, Decision{Part: c.Name, Hindrance: Blocked, Reason: c.Name.String() + " " + reason})
		}
	}
	return out, true
}

// uses reports whether an object is a CRD of another owner that the bundle uses.
func (d *Draft) uses(ref cluster.ObjectRef) bool {
	en := d.Inventory.Find(ref)
	return en != nil && en.IsUsed()
}
