// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// apply applies the bundle. The parameter was is the stored inventory, or nil if there is none. If write is set, apply saves the
// inventory even if it does not change. If approved is set, apply returns a *StalePlanError unless it makes the same plan.
func (w *call) apply(
	ctx context.Context, applier *apply.Applier, was *inventory.Inventory, write bool, approved *Plan,
) (Result, error) {
	objects, err := w.look(ctx, was)
	if err != nil {
		return Result{}, err
	}
	if approved != nil && approved.Basis != w.basis(was, objects) {
		return Result{}, &StalePlanError{Bundle: w.b.Name}
	}
	checkpoint, err := w.newCheckpoint(ctx, applier, was, objects)
	if err != nil {
		return Result{}, err
	}
	p, err := w.newPlanner(applier, was, objects, true).plan(ctx)
	if err != nil {
		return Result{}, err
	}
	if approved != nil && approved.Content != p.Digest() {
		return Result{}, &StalePlanError{Bundle: w.b.Name}
	}
	hooks := w.newHooks()
	run := execute.Input{
		Plan: p, Applier: applier, Concurrency: w.e.concurrency, Save: w.store.save, Confirm: w.store.confirm, Write: write,
		Checkpoint: checkpoint, Retry: w.o.Retry, Redact: w.o.Redact, Pruner: w.newPruner(objects),
		Installs: &installs{composer: w.composer, history: w.history(), hooks: hooks, now: w.e.now}, Latest: w.c.Cache().Get, Health: w.health(),
		Prepare: func(ctx context.Context, gvks []schema.GroupVersionKind) { inspect.Prepare(ctx, w.c.Cache(), gvks) },
	}
	if observe.TestsDue(p.Inventory, w.o.Test) {
		run.Test = (&tester{hooks: hooks, parts: w.parts, test: w.o.Test}).run
	}
	done, err := execute.Run(ctx, run)
	w.mem.forgetReturned(done.Inventory)
	if w.store.changed != nil {
		return done.Result, w.retract(ctx)
	}
	if done.Inventory != nil {
		w.mem.conclude(done.Inventory)
	}
	return done.Result, err
}

// newPlanner returns a planner for an inventory, which is nil if there is none. If holds is set, each part waits for the installs
// before it.
func (w *call) newPlanner(applier *apply.Applier, was *inventory.Inventory, objects inspect.Objects, holds bool) *planner {
	w.composer.Stored = was
	return &planner{
		bundle: w.b, composer: w.composer, config: w.config, cache: w.c.Cache(), health: w.health(), checkCRD: applier.Permissions.CheckCRD,
		holds: holds,
		input: plan.Input{
			Set: w.id, Parts: w.parts, Inventory: was.In(w.where.UID), Cluster: w.where.UID, Minor: w.minor(),
			Objects: objects.States, Denied: objects.Denied, Drift: w.b.Drift, Retry: w.o.Retry, Now: w.e.now(),
		},
	}
}

// newCheckpoint returns the checkpoint to store as the last known good revision, or nil to keep the stored one. It returns a
// checkpoint only if the bundle works with its current inputs, the stored checkpoint differs, and all objects can be read. It
// returns an error only if the context has ended.
func (w *call) newCheckpoint(
	ctx context.Context, applier *apply.Applier, was *inventory.Inventory, objects inspect.Objects,
) (*observe.Checkpoint, error) {
	if was == nil || !w.checkpoint().Differs(was) {
		return nil, nil //nolint:nilnil // As documented.
	}
	in := w.observed(was, objects)
	if err := in.Gather(ctx, w.health(), w.differences(was, applier)); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil //nolint:nilnil // As documented.
	}
	if o := observe.Observe(in); o.State != Ready && !o.Works || !o.UpToDate {
		return nil, nil //nolint:nilnil // As documented.
	}
	return w.checkpoint(), nil
}

// basis returns a fingerprint of everything that a plan depends on.
func (w *call) basis(was *inventory.Inventory, objects inspect.Objects) string {
	drifted, paused, now := map[cluster.ObjectRef]bool{}, map[cluster.ObjectRef]bool{}, w.e.now()
	if was != nil {
		drifted, paused = plan.FindDrifted(was, objects.States, objects.Denied, w.id, now), was.FindPaused(now)
	}
	b, o := w.b, w.o
	return plan.Fingerprint(w.parts, was, objects.States, drifted, keyOf(w.c, b), w.id, w.mem.stored.Version, was != nil,
		o.Test, w.minor(), b.Adopt, b.Recreate, b.Drift, o.Rollback, o.Retry,
		// Paused objects are not repaired, and objects that cannot be read do not count as drifted.
		refs(paused), refs(objects.Denied))
}

// refs returns the keys of a map as sorted strings.
func refs[V any](m map[cluster.ObjectRef]V) []string {
	out := make([]string, 0, len(m))
	for ref := range m {
		out = append(out, ref.String())
	}
	slices.Sort(out)
	return out
}

// former returns the objects of an adopted release that neither the component nor the bundle contains.
func (w *call) former(ctx context.Context, c *compose.Component, isMember func(ref cluster.ObjectRef) bool) ([]cluster.ObjectRef, error) {
	if c.Desired.Adopts == object.AdoptNone {
		return nil, nil
	}
	h, in := w.history(), c.ReleaseAt(w.e.now(), nil)
	before, err := h.Before(ctx, in)
	if err != nil {
		return nil, err
	}
	return h.FindFormer(ctx, in, before, w.composer.HasFormer(ctx, c, isMember))
}
