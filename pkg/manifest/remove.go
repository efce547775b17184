// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A remover deletes objects of a bundle.
type remover struct {
	// input contains the fields that all removals of the call share.
	input teardown.Input
	// memory contains the objects that need no further request. before contains those from before the call.
	memory *memory
	before map[cluster.ObjectRef]teardown.NonMember
	// confirm returns an error if the connection leads to a different cluster than at the beginning of the call.
	confirm func(ctx context.Context) error
}

// confirmNonMembers forgets which objects this call found to be gone if that cannot be confirmed: they may be missing in a different cluster
// only. It sends a request if there are such objects, or if always is true.
func (r *remover) confirmNonMembers(ctx context.Context, always bool) error {
	if !always && maps.Equal(r.before, r.memory.nonMembers) {
		return nil
	}
	err := r.confirm(ctx)
	if err != nil {
		r.memory.nonMembers = r.before
	}
	return err
}

// run deletes the objects of entries. The parameter objects contains the known state of these objects.
func (r *remover) run(
	ctx context.Context, mode teardown.Mode, entries []inventory.Entry, objects inspect.Objects, hooks teardown.Hooks,
) (teardown.Result, error) {
	in := r.input
	in.Mode, in.Hooks, in.NonMembers = mode, hooks, r.memory.nonMembers
	in.Known, in.Asked, in.Denied = objects.States, objects.Asked, objects.Denied
	in.Entries = make([]*inventory.Entry, 0, len(entries))
	for i := range entries {
		in.Entries = append(in.Entries, &entries[i])
	}
	res, err := teardown.Run(ctx, in)
	r.memory.nonMembers = res.NonMembers
	return res, err
}

// A pruner deletes objects that the bundle no longer contains. It implements execute.Pruner.
type pruner struct {
	remover *remover
	hooks   *hooks
	history release.History
	// adopts is true if the bundle adopts objects of other owners.
	adopts bool
	// objects is the state of the objects of the inventory before the run, as far as it was known.
	objects inspect.Objects
}

// Prune deletes objects, and runs the deletion hooks of pruned installs.
func (p *pruner) Prune(ctx context.Context, what execute.Doomed) (teardown.Result, error) {
	objects := p.objects
	objects.States = what.Objects
	remover := *p.remover
	remover.input = remover.input.Confirmed(what.Confirm)
	res, err := remover.run(ctx, teardown.Prune, what.Entries, objects, p.hooks.ofRemoved(what.Records, what.Parts, what.OwnerOf, what.Save))
	maps.DeleteFunc(p.remover.memory.nonMembers, func(ref cluster.ObjectRef, _ teardown.NonMember) bool { return res.Done[ref] })
	if unconfirmed := p.remover.confirmNonMembers(ctx, false); err == nil {
		err = unconfirmed
	}
	return res, err
}

// Forget deletes the release records of a part.
func (p *pruner) Forget(ctx context.Context, part object.PartID, rec inventory.Part) error {
	return p.history.DeleteOf(ctx, part, &rec, p.adopts)
}

// newRemover returns a remover of objects of the bundle.
func (w *call) newRemover() *remover {
	parts := make([]object.PartID, 0, len(w.parts))
	for i := range w.parts {
		parts = append(parts, w.parts[i].Name)
	}
	permissions := w.newDryRunner().Permissions
	confirmed := func(ctx context.Context) error { return confirm(ctx, w.c, w.where, w.e.messages) }
	return &remover{memory: w.mem, before: w.mem.nonMembers, confirm: confirmed, input: teardown.Input{
		Read: w.client, Write: w.client, Share: w.marks(), Cluster: w.c, Set: w.id,
		Labels: w.labels(), FieldManager: w.e.identity.FieldManager, Parts: parts,
		Concurrency: w.e.concurrency, ForceAdvice: w.e.messages.ForceRemoval, DeleteAdopted: w.o.DeleteAdopted, OwnerOf: permissions.OwnerOf,
	}}
}

// newPruner returns a pruner. The parameter objects contains the known state of the objects of the inventory.
func (w *call) newPruner(objects inspect.Objects) *pruner {
	return &pruner{remover: w.newRemover(), hooks: w.newHooks(), history: w.history(), adopts: w.b.Adopt, objects: objects}
}

// removalHooks returns the hooks to run if all parts of the bundle are removed. It copies the inventory only if there are hooks. A release whose
// install was renamed can have two parts in the inventory: only the one with the later revision has hooks.
func (w *call) removalHooks(inv *inventory.Inventory) *hook.RemovalHooks {
	parts := slices.DeleteFunc(slices.Sorted(maps.Keys(inv.Parts)), func(part object.PartID) bool {
		return !inv.Parts[part].DeleteHooks || inv.IsTakenOver(part)
	})
	if len(parts) > 0 {
		inv = inv.Clone()
	}
	return w.newHooks().ofRemoved(inv.Parts, parts, nil, func(ctx context.Context, part object.PartID, rec inventory.Part) error {
		inv.Parts[part] = rec
		_, err := w.store.save(ctx, inv)
		return err
	})
}

// lookToRemove returns the known state of the objects of an inventory if a request confirms that it is the one in the cluster. What the watch
// shows may be from before a restore of the storage, so that the objects belong to others now. A different cluster is the more important error:
// where confirms that there is none.
func (w *call) lookToRemove(ctx context.Context, inv *inventory.Inventory, where func(context.Context) error) (inspect.Objects, error) {
	objects, err := w.look(ctx, inv)
	if err != nil {
		return inspect.Objects{}, err
	}
	if err := w.store.confirm(ctx); err != nil {
		return inspect.Objects{}, firstOf(where(ctx), err)
	}
	return objects, nil
}

func (w *call) removalMode() teardown.Mode {
	if w.o.ForceRemoval {
		return teardown.ForceRemove
	}
	return teardown.Remove
}

// forgetAll deletes the release records and the inventory of a bundle that has no objects left. It deletes no records if another process
// changed the inventory: a chart with random values can't be restored without them.
func (w *call) forgetAll(ctx context.Context, inv *inventory.Inventory) error {
	if hasReleases(inv) {
		if err := w.store.confirm(ctx); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		rec := inv.Parts[name]
		if err := w.history().DeleteOf(ctx, name, &rec, w.b.Adopt); err != nil {
			return err
		}
	}
	if err := w.store.delete(ctx); err != nil {
		return err
	}
	w.e.Forget(w.c, w.b)
	w.e.memoryOf(w.c, w.b).removed = true
	return nil
}

func hasReleases(inv *inventory.Inventory) bool {
	for name, rec := range inv.Parts {
		if !rec.ReleaseOf(name).IsZero() {
			return true
		}
	}
	return false
}
