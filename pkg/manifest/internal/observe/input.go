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

// An Input holds everything that an observation depends on.
type Input struct {
	// Parts of the bundle, with their digests.
	Parts []bundle.Part
	// Drift is the policy of the bundle. Retry and Test are the tokens of the call.
	Drift       bundle.DriftPolicy
	Retry, Test string
	// Inventory in the cluster, or nil.
	Inventory *inventory.Inventory
	// Adopting is true if the inventory belongs to another owner and the next step adopts it.
	Adopting bool
	// Objects are the states of the existing objects of the inventory. Denied are the objects that the credentials may not read,
	// with the error.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	Denied  map[cluster.ObjectRef]error
	// Health of the objects that have a readiness rule, and Differences of drifted objects. Gather sets both.
	Health      map[cluster.ObjectRef]Health
	Differences map[cluster.ObjectRef]Difference
	// Checkpoint is the last known good revision to keep. Nil means that the caller does not keep any.
	Checkpoint *Checkpoint
	// Now is the time of the observation.
	Now time.Time
}

// A Health is the result of a readiness rule for an object.
type Health struct {
	State   health.State
	Message string
}

// A Difference says how an object differs from what was applied.
type Difference struct {
	// Drift, including its fields.
	Drift Drift
	// Differs is false if the only difference is that other managers own ceded fields of the object.
	Differs bool
	// Failed is true if the object could not be compared, so that its differences are unknown for the time being.
	Failed bool
}

// breaks reports whether the part lacks the object because it was deleted or a foreign object has its name.
func (d *Difference) breaks() bool {
	return d.Differs && (d.Drift.Kind == DriftDeleted || d.Drift.Kind == DriftForeign)
}

// A Checkpoint describes the last known good revision to store next to the inventory.
type Checkpoint struct {
	// Wanted is the revision to keep, or empty.
	Wanted []byte
	// Inventory is the size of the stored inventory in bytes.
	Inventory int
	// Parent is the Secret that holds both.
	Parent cluster.ObjectRef
}

// Kept returns the revision to store once the bundle is Ready. It returns nil if there is none or it is too large.
func (c *Checkpoint) Kept() []byte {
	if len(c.Wanted) == 0 || !inventory.Fits(c.Inventory, c.Wanted) {
		return nil
	}
	return c.Wanted
}

// Differs reports whether the stored checkpoint differs from the one to keep.
func (c *Checkpoint) Differs(inv *inventory.Inventory) bool {
	return !bytes.Equal(inv.Good, c.Kept())
}

// refusal returns why the wanted revision cannot be stored, or an empty string.
func (c *Checkpoint) refusal() string {
	if len(c.Wanted) == 0 || inventory.Fits(c.Inventory, c.Wanted) {
		return ""
	}
	return fmt.Sprintf("what is needed to go back to this state has %d bytes compressed, and there is no room for it in %s "+
		"beside the inventory of %d bytes, which together may have %d", len(c.Wanted), c.Parent, c.Inventory, inventory.MaxData)
}
