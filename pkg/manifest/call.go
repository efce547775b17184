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

// A call is one call on one bundle. It joins the packages that do the work.
type call struct {
	client *ssa.Client
	e      *Engine
	c      cluster.Cluster
	b      *Bundle
	o      CallOptions
	id     string
	parts  []bundle.Part
	mem    *memory
	// rendered are the parts that were rendered to compare objects with what was applied.
	rendered map[object.PartID]*compose.Component
	// config of the bundle, which is read when it is needed.
	config   *compose.Config
	composer *compose.Composer
	// changed is set once another client changed the inventory. Nothing is written after that: stop ends the context of the call.
	changed *inventory.ChangedError
	stop    context.CancelFunc
	// end the call, so that another one can begin.
	end func()
}

// fenced returns a context for a call that writes. It ends with the call, or once another client changed the inventory.
func (w *call) fenced(ctx context.Context) context.Context {
	ctx, w.stop = context.WithCancel(ctx)
	return ctx
}

// newWriter returns an applier that writes. It remembers what it asked about owners and autoscalers: a call makes one.
func (w *call) newWriter() *apply.Applier {
	return apply.NewWriter(w.target(), w.policy(), &w.mem.contention, w.e.now)
}

// newDryRunner returns an applier that changes nothing.
func (w *call) newDryRunner() *apply.Applier {
	return apply.NewDryRunner(w.target(), w.policy(), &w.mem.contention, w.e.now)
}

// target of an applier.
func (w *call) target() apply.Target {
	return apply.Target{Client: w.client, Cluster: w.c, ID: w.id, Namespace: w.e.namespace}
}

// policy of an applier.
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

// checkpoint returns what is to be kept beside the inventory.
func (w *call) checkpoint() *observe.Checkpoint {
	return &observe.Checkpoint{Wanted: w.o.Checkpoint, Inventory: w.mem.stored.Size, Parent: w.parentKey()}
}

// history returns the records of the releases in the cluster.
func (w *call) history() release.History {
	return release.History{Client: w.client, Set: w.id, Keep: w.e.history}
}

// labels of each object of the bundle.
func (w *call) labels() map[string]string {
	l := make(map[string]string, len(w.b.Labels)+2)
	maps.Copy(l, w.b.Labels)
	l[object.LabelPartOf] = w.id
	l[object.LabelManagedBy] = w.e.identity.ManagedBy
	return l
}

// removalHooks returns the hooks to run for parts that are being removed, of which the inventory has records. Owner is nil if all
// parts are being removed. The records are copied; save saves the inventory with one that changed.
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

// removalHooksOfAll returns the hooks to run for the removal of all parts of a bundle. The inventory is copied only if there are hooks.
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

// hookRunner returns a runner that has no hooks yet.
func (w *call) hookRunner() hook.Runner {
	return hook.Runner{
		Target: &hook.Cluster{Client: w.client, Cache: w.c.Cache(), Track: w.track},
		Pods:   w.client, Set: w.id, Adopt: w.b.Adopt, Now: w.e.now, Redact: w.o.Redact, Messages: w.e.messages,
	}
}

// prepareHooks returns the hooks of the event of a run, ready to be sent.
func (w *call) prepareHooks(
	ctx context.Context, all []record.Hook, part object.PartID, in *compose.Installation, run *inventory.Run, owner hook.Owner,
) ([]hook.Hook, error) {
	return hook.Prepare(ctx, all, w.id, part, run, owner, func(ctx context.Context, h *record.Hook, identity string) (object.Desired, error) {
		return w.composer.BuildHook(ctx, in, part, h, identity)
	})
}

// recordedHooks returns the hooks of the event of a run as the record of a release has them; nil where it has no record.
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

// parentKey is the key of the Secret that holds the inventory.
func (w *call) parentKey() cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "Secret", Namespace: w.e.namespace, Name: w.b.Name}
}

// store of the inventory.
func (w *call) store() *inventory.Store {
	return &inventory.Store{
		Client: w.client, Cache: w.c.Cache(), SyncTimeout: inspect.SyncTimeout, Ref: w.parentKey(), Set: w.id, Owner: w.b.Owner, Adopt: w.b.Adopt,
		Identity: w.e.identity, Messages: w.e.messages,
	}
}

// load the inventory; nil where the watch shows none.
func (w *call) load(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := w.store().Load(ctx, w.mem.stored)
	return w.loaded(stored, err)
}

// loadUnwatched loads the inventory; nil where a request confirms that there is none.
func (w *call) loadUnwatched(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := w.store().LoadUnwatched(ctx, w.mem.stored)
	return w.loaded(stored, err)
}

// loaded remembers what a load returned, also with an error.
func (w *call) loaded(stored inventory.Stored, err error) (*inventory.Inventory, error) {
	w.mem.stored = stored
	if err != nil {
		return nil, err
	}
	return stored.Inventory, nil
}

// loadOwn loads the inventory for a removal, which never takes over the inventory of another owner.
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

// owns reports whether the inventory that was read last is that of the owner of the bundle.
func (w *call) owns() bool { return w.store().Owns(w.mem.stored) }

// save the inventory. Where none was found there must be none: the error is inventory.ErrExists otherwise. Once another client changed
// it, nothing is saved in this call any more, and the next one reads it again.
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
