// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// forgetAll deletes the records of a bundle that has no objects left: its release records, and its inventory.
func (w *call) forgetAll(ctx context.Context, inv *inventory.Inventory) error {
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		rec := inv.Parts[name]
		if err := w.history().DeleteOf(ctx, name, &rec, w.b.Adopt); err != nil {
			return err
		}
	}
	var err error
	if w.mem.stored, err = w.store().Delete(ctx, w.mem.stored); err != nil {
		return err
	}
	w.e.Forget(w.c, w.b)
	return nil
}

func (w *call) removalMode() teardown.Mode {
	if w.o.ForceRemoval {
		return teardown.ForceRemove
	}
	return teardown.Remove
}

// teardown deletes the objects of entries, given what is known about them.
func (w *call) teardown(
	ctx context.Context, mode teardown.Mode, entries []inventory.Entry, objects inspect.Objects, hooks teardown.Hooks,
) (teardown.Result, error) {
	parts := make([]object.PartID, 0, len(w.parts))
	for i := range w.parts {
		parts = append(parts, w.parts[i].Name)
	}
	todo := make([]*inventory.Entry, 0, len(entries))
	for i := range entries {
		todo = append(todo, &entries[i])
	}
	res, err := teardown.Run(ctx, teardown.Input{
		Read: w.client, Write: w.client, Cluster: w.c, Hooks: hooks, Mode: mode, Set: w.id, Labels: w.labels(),
		FieldManager: w.e.identity.FieldManager, Entries: todo, Parts: parts, Known: objects.States, Asked: objects.Asked, Denied: objects.Denied,
		Settled: w.mem.settled, Concurrency: w.e.concurrency, ForceAdvice: w.e.messages.ForceRemoval,
	})
	w.mem.settled = res.Settled
	return res, err
}
