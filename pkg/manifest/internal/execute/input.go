// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// An Input is the input of Run. Its functions and interfaces get values and lookup functions, and return values: only the run
// changes its inventory.
type Input struct {
	Plan    *plan.Plan
	Applier *apply.Applier
	// Concurrency is the number of objects that are applied at the same time.
	Concurrency int
	// Save saves the inventory, even if it did not change, and returns the stored inventory.
	Save func(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error)
	// Confirm returns an error if another process changed the inventory since it was last read or saved. It is optional.
	Confirm func(ctx context.Context) error
	// Write makes the run save the inventory first, even if the plan does not change it.
	Write bool
	// Checkpoint is the new last known good revision. Nil keeps the one in the inventory.
	Checkpoint *observe.Checkpoint
	// Retry is the retry token of the call. Redact removes secret values from the reasons that are saved; nil removes nothing.
	Retry    string
	Redact   func(text string) string
	Installs Installs
	Pruner   Pruner
	// Latest returns the latest known state of an object.
	Latest func(ref cluster.ObjectRef) (cluster.ObjectState, bool)
	// Prepare starts watching kinds that the cluster serves. It is optional, and does not wait.
	Prepare func(ctx context.Context, gvks []schema.GroupVersionKind)
	// Health evaluates the readiness rules of the bundle.
	Health observe.Evaluator
	// Test runs the requested tests as far as possible without waiting. It is nil if none are requested.
	Test func(ctx context.Context, in TestInput) (Tested, error)
}

// Installs runs the hooks of the components and records their Helm releases.
type Installs interface {
	// RunPre and RunPost run the hooks that precede and follow the objects of a component, as far as possible without waiting. Their
	// results are valid even if there is an error.
	RunPre(ctx context.Context, c *compose.Component, v View) (Hooked, error)
	RunPost(ctx context.Context, c *compose.Component, v View) (Hooked, error)
	// Finish finishes a component whose objects are all applied and whose hooks have run.
	Finish(ctx context.Context, c *compose.Component, v View) (Installed, error)
	// Abandon deletes the records of a release whose move to another name or namespace was never finished.
	Abandon(ctx context.Context, c *compose.Component) error
}

// A View is the part of the state of a run that Installs can see.
type View struct {
	// Record is the record of the component in the inventory.
	Record inventory.Part
	// Run is the run of the hooks of the component. It is nil if the run has not begun, or if there are no hooks.
	Run *inventory.Run
	// OwnerOf returns the part that owns an object, if any. IsMember reports whether the inventory contains the object.
	OwnerOf  hook.Owner
	IsMember func(ref cluster.ObjectRef) bool
	// Save saves the inventory immediately, with the changes that the hooks of the component have made so far.
	Save func(ctx context.Context, e hook.Effect) error
}

// Hooked is the progress of the hooks of a component.
type Hooked struct {
	hook.Standing

	// Effect is the effect of the hooks on the inventory.
	Effect hook.Effect
	// Run is the run of the hooks, or nil if it has not begun.
	Run *inventory.Run
}

// Installed is the result of Installs.Finish.
type Installed struct {
	// Name is the name of the installed chart or objects.
	Name string
	// Record is the new record of the component. It is not valid if there is an error.
	Record inventory.Part
	// Hooks is the number of hooks that ran.
	Hooks int
	// Pruned contains the objects of an adopted release that the component does not contain.
	Pruned []cluster.ObjectRef
}

// A Pruner deletes objects that a bundle no longer contains.
type Pruner interface {
	// Prune deletes objects, and runs the hooks of the installs that are removed, as far as possible without waiting.
	Prune(ctx context.Context, p Doomed) (teardown.Result, error)
	// Forget deletes the release records of a part.
	Forget(ctx context.Context, part object.PartID, rec inventory.Part) error
}

// Doomed contains the objects and parts that a bundle no longer contains.
type Doomed struct {
	// Entries contains the entries of the objects to delete. Objects contains the states of existing ones, as far as they are known.
	Entries []inventory.Entry
	Objects map[cluster.ObjectRef]cluster.ObjectState
	// Parts contains the parts that are in the inventory and no longer in the bundle. Records contains their records.
	Parts   []object.PartID
	Records map[object.PartID]inventory.Part
	// OwnerOf returns the part that owns an object, if any.
	OwnerOf hook.Owner
	// Save saves the inventory immediately, with the record of a part.
	Save func(ctx context.Context, part object.PartID, rec inventory.Part) error
	// Confirm returns an error if the inventory is not the one in the cluster. Call it before the first object is changed or deleted.
	Confirm func(ctx context.Context) error
}

// A TestInput is the input of the tests of a bundle.
type TestInput struct {
	// Tests contains the tests in the inventory, or nil if there are none.
	Tests *inventory.Tests
	// Records contains the records of all parts.
	Records map[object.PartID]inventory.Part
	// OwnerOf returns the part that owns an object, if any.
	OwnerOf hook.Owner
	// Save saves the inventory immediately, with the progress of the tests.
	Save func(ctx context.Context, t *inventory.Tests) error
}

// Tested is the progress of tests. It is valid even if there is an error.
type Tested struct {
	hook.Standing

	// Tests contains the tests to store in the inventory. Nil keeps the stored ones.
	Tests *inventory.Tests
}
