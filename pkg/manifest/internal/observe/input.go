// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"bytes"
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Input is all that an observation depends on.
type Input struct {
	// Parts of the bundle, with their digests.
	Parts []bundle.Part
	// Drift is the policy of the bundle. Retry and Test are the tokens of the call.
	Drift       bundle.DriftPolicy
	Retry, Test string
	// Inventory in the cluster; nil for none.
	Inventory *inventory.Inventory
	// Adopting says that the inventory belongs to another owner, from which the next step takes it over.
	Adopting bool
	// Objects of the inventory that exist, and those that the credentials may not read, with the reason.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	Denied  map[cluster.ObjectRef]error
	// Last says why the last step did not go further.
	Last inventory.Reasons
	// Health of the objects that rules are for, and Differences of those that drifted. Gather fills both in.
	Health      map[cluster.ObjectRef]Health
	Differences map[cluster.ObjectRef]Difference
	// Checkpoint is the last known good revision to keep; nil where that is of no interest.
	Checkpoint *Checkpoint
	// Now is when the observation is made.
	Now time.Time
}

// A Health is what a rule says of an object.
type Health struct {
	State   health.State
	Message string
}

// A Difference says how an object differs from what was applied.
type Difference struct {
	// Drift with its fields.
	Drift Drift
	// Differs is false where other managers own fields of the object, and all of them are ceded.
	Differs bool
}

// breaks reports whether the part lacks the object: it was deleted, or a foreign object has its name.
func (d *Difference) breaks() bool {
	return d.Differs && (d.Drift.Kind == DriftDeleted || d.Drift.Kind == DriftForeign)
}

// A Checkpoint describes the last known good revision that is to be kept beside the inventory.
type Checkpoint struct {
	// Wanted is what to keep; empty for nothing.
	Wanted []byte
	// Inventory is the size of the inventory as it is stored, in bytes.
	Inventory int
	// Parent is the Secret that holds both.
	Parent cluster.ObjectRef
}

// Kept returns what is to be kept once the bundle is Ready; nil where that is nothing, or too large.
func (c *Checkpoint) Kept() []byte {
	if len(c.Wanted) == 0 || !inventory.Fits(c.Inventory, c.Wanted) {
		return nil
	}
	return c.Wanted
}

// Differs reports whether an inventory has another checkpoint than the one that is to be kept.
func (c *Checkpoint) Differs(inv *inventory.Inventory) bool {
	return !bytes.Equal(inv.Good, c.Kept())
}

// refusal returns why what is wanted cannot be kept; empty where it can.
func (c *Checkpoint) refusal() string {
	if len(c.Wanted) == 0 || inventory.Fits(c.Inventory, c.Wanted) {
		return ""
	}
	return fmt.Sprintf("what is needed to go back to this state has %d bytes compressed, and there is no room for it in %s "+
		"beside the inventory of %d bytes, which together may have %d", len(c.Wanted), c.Parent, c.Inventory, inventory.MaxData)
}
