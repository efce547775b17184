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
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An Input holds everything that an observation depends on.
type Input struct {
	// Set is the ID of the ApplySet.
	Set string
	// Parts lists the parts of the bundle with their digests.
	Parts []bundle.Part
	// Drift is the drift policy of the bundle. Retry and Test are the tokens of the call.
	Drift       bundle.DriftPolicy
	Retry, Test string
	// Outdated contains the installs that use the version of the cluster and were rendered for a different version.
	Outdated map[object.PartID]bool
	// Inventory is the inventory in the cluster, or nil.
	Inventory *inventory.Inventory
	// Adopting is true if the inventory belongs to another owner and the next step adopts it.
	Adopting bool
	// Objects holds the states of the existing objects of the inventory. Denied holds the errors for the objects that the
	// credentials may not read.
	Objects map[cluster.ObjectRef]cluster.ObjectState
	Denied  map[cluster.ObjectRef]error
	// Health holds the results of the readiness rules, and Differences the differences of drifted objects. Gather sets both.
	Health      map[cluster.ObjectRef]Health
	Differences map[cluster.ObjectRef]Difference
	// Checkpoint is the last known good revision to keep, or nil if the caller does not keep one.
	Checkpoint *Checkpoint
	// Now is the time of the observation.
	Now time.Time
}

// A Health is the result of a readiness rule for an object.
type Health struct {
	State   health.State
	Message string
}

// A Difference describes how an object differs from its applied state.
type Difference struct {
	// Drift is the drift of the object, including its fields.
	Drift Drift
	// Differs is false if the only difference is that other managers own ceded fields of the object.
	Differs bool
	// Failed is true if the comparison failed, so that the differences are unknown until the next attempt.
	Failed bool
}

// breaks reports whether the part lacks the object, because it was deleted or because a foreign object has its name.
func (d *Difference) breaks() bool {
	return d.Differs && (d.Drift.Kind == DriftDeleted || d.Drift.Kind == DriftForeign || d.Drift.Kind == DriftTakenOver)
}

// A Checkpoint describes the last known good revision to store next to the inventory.
type Checkpoint struct {
	// Wanted is the revision to keep, or empty.
	Wanted []byte
	// Inventory is the size of the stored inventory in bytes.
	Inventory int
	// Parent refers to the Secret that holds both.
	Parent cluster.ObjectRef
}

// Kept returns the revision to store once the bundle works. It returns nil if there is none or it is too large.
func (c *Checkpoint) Kept() []byte {
	if len(c.Wanted) == 0 || !inventory.Fits(c.Inventory, c.Wanted) {
		return nil
	}
	return c.Wanted
}

// Differs reports whether the stored checkpoint differs from the one to keep.
func (c *Checkpoint) Differs(inv *inventory.Inventory) bool {
	return !bytes.Equal(inv.Checkpoint, c.Kept())
}

// refusal returns the reason why the wanted revision cannot be stored, or an empty string.
func (c *Checkpoint) refusal() string {
	if len(c.Wanted) == 0 || inventory.Fits(c.Inventory, c.Wanted) {
		return ""
	}
	return fmt.Sprintf("the data for a rollback to this revision (%d bytes compressed) does not fit into %s "+
		"with the inventory (%d bytes): the limit is %d bytes", len(c.Wanted), c.Parent, c.Inventory, inventory.MaxData)
}
