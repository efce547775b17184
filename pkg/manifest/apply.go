// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// apply the bundle, beginning with an inventory, nil for none. With write the inventory is saved in any case. If a plan was approved,
// nothing but what it shows is applied.
func (w *call) apply(ctx context.Context, was *inventory.Inventory, write bool, approved *Plan) (Result, error) {
	known, err := w.known(ctx, was)
	if err != nil {
		return Result{}, err
	}
	if approved != nil && approved.Basis != w.basis(was, known) {
		return Result{}, &StalePlanError{Bundle: w.b.Name}
	}
	kept, err := w.keepsCheckpoint(ctx, was, known)
	if err != nil {
		return Result{}, err
	}
	p, err := planner{call: w, was: was, known: known, holds: true}.plan(ctx)
	if err != nil {
		return Result{}, err
	}
	if approved != nil && approved.Content != p.Digest() {
		return Result{}, &StalePlanError{Bundle: w.b.Name}
	}
	progress := execute.Begin(p)
	if kept {
		progress.Inventory.Good = w.checkpoint().Kept()
	}
	i := &installs{call: w, progress: progress}
	run := execute.Input{
		Progress: progress, Applier: w.applier, Concurrency: w.e.concurrency, Inventory: &saver{call: w}, Create: was == nil, Write: write || kept,
		Installs: i, Pruner: &pruner{call: w, progress: progress}, Latest: w.c.Cache().Get, Contention: &w.mem.contention, Now: w.e.now,
		Unready: func(ctx context.Context, install object.PartID) (string, error) {
			return observe.Unready(ctx, w.health(), progress.Inventory, progress.Objects, install)
		},
	}
	if observe.TestsDue(progress.Inventory, w.o.Test) {
		run.Test = i.test
	}
	return execute.Run(ctx, run)
}

// keepsCheckpoint reports whether another last known good revision is kept from now on: the bundle is Ready with these very inputs.
// It is not as long as an object cannot be read. The error is that the call is over.
func (w *call) keepsCheckpoint(ctx context.Context, was *inventory.Inventory, known map[cluster.ObjectRef]cluster.ObjectState) (bool, error) {
	if was == nil || !w.checkpoint().Differs(was) {
		return false, nil
	}
	in := w.observed(was)
	in.Objects = known
	if err := in.Gather(ctx, w.health(), w.differences()); err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		return false, nil
	}
	o := observe.Observe(in)
	return o.State == Ready && o.UpToDate, nil
}

// basis returns the fingerprint of all that a plan depends on.
func (w *call) basis(was *inventory.Inventory, known map[cluster.ObjectRef]cluster.ObjectState) string {
	drifted := map[cluster.ObjectRef]bool{}
	if was != nil {
		drifted = plan.FindDrifted(was, known, w.denied, w.e.now())
	}
	b, o := w.b, w.o
	// Objects that are paused are not repaired, and those that may not be read did not drift.
	paused, denied := refs(w.mem.contention.AllPaused(w.e.now())), refs(w.denied)
	return plan.Fingerprint(w.parts, was, known, drifted, keyOf(w.c, b), w.id, w.mem.stored.Version, was != nil,
		o.Test, b.Adopt, b.Recreate, b.Drift, o.Rollback, o.Retry, paused, denied)
}

// refs returns the keys of a map, sorted.
func refs[V any](m map[cluster.ObjectRef]V) []string {
	out := make([]string, 0, len(m))
	for ref := range m {
		out = append(out, ref.String())
	}
	slices.Sort(out)
	return out
}

// former returns the objects of an adopted release that neither a component nor an inventory has.
func (w *call) former(ctx context.Context, c *compose.Component, inv *inventory.Inventory) ([]cluster.ObjectRef, error) {
	if w.config.Adoption(c.Name) == ownership.AdoptNone {
		return nil, nil
	}
	h, in := w.history(), c.ReleaseAt(w.e.now(), nil)
	before, err := h.Before(ctx, in)
	if err != nil {
		return nil, err
	}
	return h.FindFormer(ctx, in, before, w.composer.HasFormer(ctx, c, inv))
}
