// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// An Input is what a run needs. What it calls gets values and functions that answer questions, and returns values: only the run changes
// its inventory.
type Input struct {
	Plan    *plan.Plan
	Applier *apply.Applier
	// Concurrency is how many objects are applied at the same time.
	Concurrency int
	// Save the inventory, whether it changed or not. Save returns it as it is stored from then on.
	Save func(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error)
	// Write saves the inventory first in any case.
	Write bool
	// Checkpoint is kept as the last known good revision from now on; nil where the one that the inventory has stays.
	Checkpoint *observe.Checkpoint
	// Retry is the retry token of the call, and Redact removes secret values from the reasons that are saved; nil removes nothing.
	Retry    string
	Redact   func(text string) string
	Installs Installs
	Pruner   Pruner
	// Latest returns what is known of an object by now.
	Latest func(ref cluster.ObjectRef) (cluster.ObjectState, bool)
	// Health evaluates the readiness rules of the bundle.
	Health observe.Evaluator
	// Test runs the tests that were requested, as far as they go; nil for none.
	Test func(ctx context.Context, in TestInput) (Tested, error)
}

// Installs are the Helm releases of the components.
type Installs interface {
	// RunPre and RunPost run the hooks of a component before and after its objects are applied, as far as they go. What they return
	// counts also where there is an error.
	RunPre(ctx context.Context, c *compose.Component, v View) (Hooked, error)
	RunPost(ctx context.Context, c *compose.Component, v View) (Hooked, error)
	// Finish a component whose objects are all applied and whose hooks have run.
	Finish(ctx context.Context, c *compose.Component, v View) (Installed, error)
	// Abandon deletes the records of a release that never arrived where it was to move to.
	Abandon(ctx context.Context, c *compose.Component) error
}

// A View is what Installs see of a run.
type View struct {
	// Record that the inventory has of the component.
	Record inventory.Part
	// Run of the hooks of the component; nil before it began, and where there are none.
	Run *inventory.Run
	// OwnerOf returns the part that has an object; empty for none. IsMember reports whether the inventory has the object.
	OwnerOf  hook.Owner
	IsMember func(ref cluster.ObjectRef) bool
	// Save the inventory at once, with what the hooks of the component changed so far.
	Save func(ctx context.Context, e hook.Effect) error
}

// Hooked is how far the hooks of a component got.
type Hooked struct {
	hook.Standing

	// Effect on the inventory.
	Effect hook.Effect
	// Run of the hooks; nil where it did not begin.
	Run *inventory.Run
}

// Installed is what Installs.Finish did.
type Installed struct {
	// Name of what was installed.
	Name string
	// Record of the component from now on. It does not count where there is an error.
	Record inventory.Part
	// Hooks counts the hooks that ran.
	Hooks int
	// Pruned are objects that an adopted release had and the component lacks.
	Pruned []cluster.ObjectRef
}

// A Pruner deletes what a bundle no longer has.
type Pruner interface {
	// Prune deletes objects, and runs the hooks of the installs that leave. It goes as far as possible without waiting.
	Prune(ctx context.Context, p Prune) (teardown.Result, error)
	// Forget deletes the records of the releases of a part.
	Forget(ctx context.Context, part object.PartID, rec inventory.Part) error
}

// A Prune is what a bundle no longer has.
type Prune struct {
	// Entries of the objects that are to be deleted, and the states of those that exist, as far as they are known.
	Entries []inventory.Entry
	Objects map[cluster.ObjectRef]cluster.ObjectState
	// Parts of the inventory that the bundle no longer has, and their records.
	Parts   []object.PartID
	Records map[object.PartID]inventory.Part
	// OwnerOf returns the part that has an object; empty for none.
	OwnerOf hook.Owner
	// Save the inventory at once, with the record of a part.
	Save func(ctx context.Context, part object.PartID, rec inventory.Part) error
}

// A TestInput is what the tests of a bundle need.
type TestInput struct {
	// Tests that the inventory has; nil for none.
	Tests *inventory.Tests
	// Records of all parts.
	Records map[object.PartID]inventory.Part
	// OwnerOf returns the part that has an object; empty for none.
	OwnerOf hook.Owner
	// Save the inventory at once, with the progress of the tests.
	Save func(ctx context.Context, t *inventory.Tests) error
}

// Tested is how far tests got. It counts also where there is an error.
type Tested struct {
	hook.Standing

	// Tests that the inventory is to have; nil where they stay as they are.
	Tests *inventory.Tests
}
