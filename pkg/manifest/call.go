// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A call is one call of an Engine method on one bundle. It connects the packages that do the work.
type call struct {
	client *ssa.Client
	e      *Engine
	c      cluster.Cluster
	b      *Bundle
	o      CallOptions
	id     string
	parts  []bundle.Part
	mem    *memory
	// rendered caches the parts that were rendered to compare objects with what was applied.
	rendered map[object.PartID]*compose.Component
	// config is the config of the bundle. It is read on first use.
	config   *compose.Config
	composer *compose.Composer
	// changed is set once another client changed the inventory. Nothing is written after that: stop cancels the context of the
	// call.
	changed *inventory.ChangedError
	stop    context.CancelFunc
	// end ends the call, so that the next one can begin.
	end func()
}

// fenced returns a context for a call that writes. It is cancelled when the call ends, or when another client changed the
// inventory.
func (w *call) fenced(ctx context.Context) context.Context {
	ctx, w.stop = context.WithCancel(ctx)
	return ctx
}

// newWriter returns an applier that writes. A call makes only one, because it caches what it learned about owners and
// autoscalers.
func (w *call) newWriter() *apply.Applier {
	return apply.NewWriter(w.target(), w.policy(), w.mem.repairs, w.e.now)
}

// newDryRunner returns an applier that changes nothing in the cluster.
func (w *call) newDryRunner() *apply.Applier {
	return apply.NewDryRunner(w.target(), w.policy(), w.mem.repairs, w.e.now)
}

func (w *call) target() apply.Target {
	return apply.Target{Client: w.client, Cluster: w.c, ID: w.id, Namespace: w.e.namespace}
}

func (w *call) policy() apply.Policy {
	return apply.Policy{Recreate: w.b.Recreate, CheckedCRDs: w.b.Adopt, Messages: w.e.messages}
}

func (w *call) newComposer() *compose.Composer {
	return &compose.Composer{
		Messages: w.e.messages,
		Bundle:   w.b, Config: w.config, Retry: w.o.Retry, RollsBack: w.o.Rollback, Target: w.c, Releases: w.history(),
		Connection: w.c.Config(), Inventory: w.parentKey(), Labels: w.labels(), Caches: w.e.caches,
	}
}

// checkpoint returns the checkpoint that the caller wants to store with the inventory.
func (w *call) checkpoint() *observe.Checkpoint {
	return &observe.Checkpoint{Wanted: w.o.Checkpoint, Inventory: w.mem.stored.Size, Parent: w.parentKey()}
}

// history returns the release records in the cluster.
func (w *call) history() release.History {
	return release.History{Client: w.client, Set: w.id, Keep: w.e.history}
}

// labels returns the labels of each object of the bundle.
func (w *call) labels() map[string]string {
	l := make(map[string]string, len(w.b.Labels)+2)
	maps.Copy(l, w.b.Labels)
	l[object.LabelPartOf] = w.id
	l[object.LabelManagedBy] = w.e.identity.ManagedBy
	return l
}

// removalHooks returns the hooks to run for parts that are being removed, given their records in the inventory. The records are
// copied; save saves the inventory with a record that changed. The owner is nil if all parts are being removed.
func (w *call) removalHooks(
	records map[object.PartID]inventory.Part, parts []object.PartID, owner hook.Owner,
	save func(ctx context.Context, part object.PartID, rec inventory.Part) error,
) *hook.Removal {
	return &hook.Removal{
		Records: maps.Clone(records), Parts: parts, Retry: w.o.Retry, Force: w.o.ForceRemoval, Describe: w.history().Describe,
		Runner: w.hookRunner(), Save: save,
		Prepare: func(ctx context.Context, part object.PartID, r inventory.Release, run *inventory.Run) ([]hook.Hook, *record.Info, error) {
			return w.recordedHooks(ctx, part, r, run, owner)
		},
	}
}

// removalHooksOfAll returns the hooks to run if all parts of a bundle are removed. It copies the inventory only if there are
// hooks.
func (w *call) removalHooksOfAll(inv *inventory.Inventory) *hook.Removal {
	parts := slices.DeleteFunc(slices.Sorted(maps.Keys(inv.Parts)), func(part object.PartID) bool { return !inv.Parts[part].DeleteHooks })
	if len(parts) > 0 {
		inv = inv.Clone()
	}
	return w.removalHooks(inv.Parts, parts, nil, func(ctx context.Context, part object.PartID, rec inventory.Part) error {
		inv.Parts[part] = rec
		return w.save(ctx, inv)
	})
}

// hookRunner returns a runner without hooks.
func (w *call) hookRunner() hook.Runner {
	return hook.Runner{
		Target: &hook.Cluster{Client: w.client, Cache: w.c.Cache(), Track: w.track},
		Pods:   w.client, Set: w.id, Adopt: w.b.Adopt, Now: w.e.now, Redact: w.o.Redact, Messages: w.e.messages,
	}
}

// prepareHooks returns the hooks for the event of a run, ready to be sent.
func (w *call) prepareHooks(
	ctx context.Context, all []record.Hook, part object.PartID, in *compose.Installation, run *inventory.Run, owner hook.Owner,
) ([]hook.Hook, error) {
	return hook.Prepare(ctx, all, w.id, part, run, owner, func(ctx context.Context, h *record.Hook, identity string) (object.Desired, error) {
		return w.composer.BuildHook(ctx, in, part, h, identity)
	})
}

// recordedHooks returns the hooks for the event of a run, as recorded for a release, and that record. Both are nil if there is no
// record.
func (w *call) recordedHooks(
	ctx context.Context, part object.PartID, r inventory.Release, run *inventory.Run, owner hook.Owner,
) ([]hook.Hook, *record.Info, error) {
	info, err := w.history().Get(ctx, r, run.Revision)
	if err != nil || info == nil {
		return nil, nil, err
	}
	hooks, err := w.prepareHooks(ctx, info.Hooks(), part, &compose.Installation{Namespace: r.Namespace}, run, owner)
	return hooks, info, err
}

// parentKey returns the reference of the Secret that holds the inventory.
func (w *call) parentKey() cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "Secret", Namespace: w.e.namespace, Name: w.b.Name}
}

func (w *call) store() *inventory.Store {
	return &inventory.Store{
		Client: w.client, Cache: w.c.Cache(), SyncTimeout: inspect.SyncTimeout, Ref: w.parentKey(), Set: w.id, Owner: w.b.Owner, Adopt: w.b.Adopt,
		Identity: w.e.identity, Messages: w.e.messages,
	}
}

// load returns the inventory, or nil if the watch shows none.
func (w *call) load(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := w.store().Load(ctx, w.mem.stored)
	return w.loaded(stored, err)
}

// loadUnwatched returns the inventory, or nil if a request confirms that there is none.
func (w *call) loadUnwatched(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := w.store().LoadUnwatched(ctx, w.mem.stored)
	return w.loaded(stored, err)
}

// loaded remembers the result of a load, even if the load failed.
func (w *call) loaded(stored inventory.Stored, err error) (*inventory.Inventory, error) {
	w.mem.stored = stored
	if err != nil {
		return nil, err
	}
	return stored.Inventory, nil
}

// loadOwn returns the inventory for a removal. It returns an *OwnedError if the inventory belongs to another owner, even if the
// bundle adopts.
func (w *call) loadOwn(ctx context.Context) (*inventory.Inventory, error) {
	inv, err := w.loadUnwatched(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.store().CheckOwner(w.mem.stored); err != nil {
		return nil, err
	}
	return inv, nil
}

// owns reports whether the inventory that was loaded last belongs to the owner of the bundle.
func (w *call) owns() bool { return w.store().Owns(w.mem.stored) }

// save saves the inventory. If none was loaded, it creates one, and returns inventory.ErrExists if there is one after all. Once
// another client changed the inventory, save refuses to save it for the rest of the call; the next call loads it again.
func (w *call) save(ctx context.Context, inv *inventory.Inventory) (err error) {
	if w.changed != nil {
		return w.changed
	}
	save := w.store().Save
	if w.mem.stored.Inventory == nil {
		save = w.store().Create
	}
	if w.mem.stored, err = save(ctx, w.mem.stored, inv); errors.As(err, &w.changed) {
		w.mem.last = nil
		w.stop()
	}
	return err
}
