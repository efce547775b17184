// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/detach"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// Apply performs the next step of installing or upgrading the bundle: everything that can be done without waiting. A part that
// fails does not affect the others. Apply returns its error, and Observe reports it from then on.
//
// Apply returns a *ChangedError if another client changed the inventory during the call. The call stops then: call Apply again.
func (e *Engine) Apply(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Result, error) {
	return e.apply(ctx, c, b, o, nil)
}

// ApplyPlan is like Apply, but for an approved plan. It performs the next step only if nothing has changed since the plan was
// made: the cluster, the bundle, the options, the inventory, the members that the informers show, and the objects and hooks to
// apply. Otherwise it does nothing, and returns a *StalePlanError. It does not compare objects that are not members.
//
// A plan is also stale if the content of a source has changed, or if a chart renders differently each time, for example with
// random values: a plan that contains a new revision of such a chart is always stale.
//
// The approval covers one step. If a bundle needs several steps, pass the plan to the first one, and use Apply for the others.
func (e *Engine) ApplyPlan(ctx context.Context, c cluster.Cluster, b *Bundle, p Plan, o ...CallOption) (Result, error) {
	if p.Basis == "" {
		return Result{}, errors.New("the plan is not from Engine.Plan; pass the plan that Engine.Plan returned")
	}
	return e.apply(ctx, c, b, o, &p)
}

// A StalePlanError means that the inputs of a plan have changed since it was made.
type StalePlanError struct {
	// Bundle is the name of the bundle.
	Bundle string
}

// Error describes what changed and what to do.
func (e *StalePlanError) Error() string {
	return "the plan of " + e.Bundle + " is outdated, because the bundle or the cluster changed; create a new plan"
}

// apply applies a bundle. If approved is set, apply does so only if that plan is not stale.
func (e *Engine) apply(ctx context.Context, c cluster.Cluster, b *Bundle, o []CallOption, approved *Plan) (Result, error) {
	w, err := e.newCall(ctx, c, b, o)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	ctx = w.store.fenced(ctx)
	defer w.store.stop()
	// Another process may have installed the bundle since this one removed it.
	w.mem.removed = false
	was, rebuilt, err := w.load(ctx)
	if err != nil {
		return Result{}, err
	}
	applier := w.newWriter()
	write := was == nil || rebuilt != nil || w.store.hidden || !w.store.owns() || w.store.isMoved()
	r, err := w.apply(ctx, applier, was, write, approved)
	if !errors.Is(err, inventory.ErrExists) {
		if w.store.isStored() {
			r.Rebuilt = rebuilt
		}
		return r, err
	}
	// The inventory lost the label that the watch selects. This step restores it. If the step searched for a lost inventory, another client
	// has created one since.
	stored, err := w.store.loadUnwatched(ctx)
	if err != nil {
		return Result{}, err
	}
	was, added := stored.With(was)
	r, err = w.apply(ctx, applier, was, true, approved)
	if added {
		r.Rebuilt = rebuilt
	}
	return r, err
}

// Observe returns the state of a bundle. It writes nothing, and sends no requests for state that a watch shows.
func (e *Engine) Observe(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Observation, error) {
	w, err := e.newCall(ctx, c, b, o)
	if err != nil {
		return Observation{}, err
	}
	defer w.end()
	inv, err := w.store.load(ctx)
	if err != nil {
		return Observation{}, err
	}
	objects, err := w.look(ctx, inv)
	if err != nil {
		return Observation{}, err
	}
	in := w.observed(inv, objects)
	if inv == nil {
		out := w.located(observe.Observe(in))
		if w.isInstalled() {
			out.Message = w.parentKey().String() + " does not exist, although the module was installed; it is being rebuilt from the objects in the cluster"
		}
		return out, nil
	}
	if err := in.Gather(ctx, w.health(), w.differences(inv, w.newWriter())); err != nil {
		return Observation{}, err
	}
	in.Adopting, in.Test, in.Checkpoint = !w.store.owns() || w.store.isMoved(), w.o.Test, w.checkpoint()
	out := w.located(observe.Observe(in))
	out.Unwatched = objects.TooMany
	return out, nil
}

// Exists reports whether the cluster has an inventory of the bundle. It uses only the name and the owner of the bundle. If the
// watch shows no inventory, Exists sends a request before it returns false, so that a caller that removes a bundle can rely on
// the result. If the bundle was installed, it also searches for the objects of the bundle, because the inventory may have been lost,
// and returns true if it finds any. It returns an *OwnedError if the inventory belongs to another owner, even if the bundle adopts, and
// a *cluster.ListingError if Remove would.
func (e *Engine) Exists(ctx context.Context, c cluster.Cluster, b *Bundle) (bool, error) {
	w, err := e.newCallByName(ctx, c, b, nil)
	if err != nil {
		return false, err
	}
	defer w.end()
	inv, rebuilt, err := w.loadToRemove(ctx)
	if err != nil || inv == nil || rebuilt != nil {
		// Remove searches again, and would skip kinds that are watched by then.
		return inv != nil && err == nil, err
	}
	return true, inspect.AwaitLists(ctx, c.Cache(), inv)
}

// Plan returns what Apply would do, according to dry runs in the cluster. It changes nothing, and stores nothing there. Objects
// that are up to date need no request. Each other object needs one dry run, and a read if it exists. An object whose namespace or
// kind the plan creates cannot be dry-run, and counts as created.
//
// With WithPlanAge, Plan returns the same plan for that duration, as long as inputs, options, inventory and watched objects stay
// the same. It returns an error if a request fails, or if the bundle as a whole is invalid.
func (e *Engine) Plan(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Plan, error) {
	w, err := e.newCall(ctx, c, b, o)
	if err != nil {
		return Plan{}, err
	}
	defer w.end()
	was, _, err := w.load(ctx)
	if err != nil {
		return Plan{}, err
	}
	objects, err := w.look(ctx, was)
	if err != nil {
		return Plan{}, err
	}
	basis := w.basis(was, objects)
	if k := w.mem.plan; k != nil && k.plan.Basis == basis && e.now().Before(k.until) {
		return k.plan.Clone(), nil
	}
	applier := w.newDryRunner()
	p, err := w.newPlanner(applier, was, objects, false).plan(ctx)
	if err != nil {
		return Plan{}, err
	}
	out, err := execute.DryRun(ctx, execute.DryInput{
		Plan: p, Applier: applier, Concurrency: e.concurrency, Former: w.former,
	})
	if err != nil {
		return Plan{}, err
	}
	out.Basis, out.Content = basis, p.Digest()
	w.mem.plan = &keptPlan{until: e.now().Add(e.keepFor(&out)), plan: out.Clone()}
	return out, nil
}

// Remove performs the next step of removing the bundle. The custom resource is deleted first. Then all custom resources of the
// kinds that the bundle defines must be gone, while their controllers still run. The rest is deleted in reverse order, CRDs and
// namespaces last: objects must be gone before the objects that were applied before them are deleted.
//
// Remove uses only the names in the bundle, so it can remove a bundle whose sources can no longer be resolved. If the bundle
// belongs to another owner, Remove deletes nothing, even if the bundle adopts, and returns an *OwnedError. If another client
// changed the inventory during the call, Remove returns a *ChangedError: call Remove again.
func (e *Engine) Remove(ctx context.Context, c cluster.Cluster, b *Bundle, o ...CallOption) (Removal, error) {
	w, err := e.newCallByName(ctx, c, b, o)
	if err != nil {
		return Removal{}, err
	}
	defer w.end()
	ctx = w.store.fenced(ctx)
	defer w.store.stop()
	inv, rebuilt, err := w.loadToRemove(ctx)
	if err != nil {
		return Removal{}, err
	}
	if inv == nil {
		return Removal{Gone: true}, nil
	}
	if !w.store.isStored() {
		if inv, err = w.store.save(ctx, inv.In(w.where.UID)); err != nil {
			return Removal{}, err
		}
	}
	remover := w.newRemover()
	objects, err := w.lookToRemove(ctx, inv, remover.confirm)
	if err != nil {
		return removalWithout(rebuilt, err)
	}
	res, err := remover.run(ctx, w.removalMode(), inv.Objects, objects, w.removalHooks(inv))
	left := Removal{
		State: res.Blocked.State, Message: res.Blocked.Message, Kept: res.Kept, KeptAdopted: res.KeptAdopted, HandedOver: res.HandedOver,
		LeftBehind: res.LeftBehind, Forced: res.Forced, Rebuilt: rebuilt,
	}
	if w.store.changed != nil {
		return left, w.retract(ctx)
	}
	done := err == nil && !res.Blocked.Waits()
	if err := firstOf(err, remover.confirmNonMembers(ctx, done)); err != nil || !done {
		return left, err
	}
	if err := w.forgetAll(ctx, inv); err != nil {
		return left, err
	}
	left.Gone, left.HookFailures = true, res.HookFailures
	return left, nil
}

// Detach detaches the objects of the bundle: they stay in the cluster as they are, without the labels, annotations and field ownership
// of the engine. The inventory and the release records stay, so that the next Apply of the same bundle manages the objects again, without
// a change to their specs. Until then, call Apply for no other purpose: it would undo this. Like Remove, Detach uses only the names and
// labels in the bundle, and returns an *OwnedError if the bundle belongs to another owner. If it is interrupted, call it again.
func (e *Engine) Detach(ctx context.Context, c cluster.Cluster, b *Bundle) error {
	w, in, err := e.newDetach(ctx, c, b)
	if err != nil || w == nil {
		return err
	}
	defer w.end()
	err = detach.Run(ctx, in)
	e.Forget(c, b)
	return err
}

// IsDetached reports whether Detach has nothing left to do. It reads all objects of the bundle in the cluster.
func (e *Engine) IsDetached(ctx context.Context, c cluster.Cluster, b *Bundle) (bool, error) {
	w, in, err := e.newDetach(ctx, c, b)
	if err != nil || w == nil {
		return err == nil, err
	}
	defer w.end()
	return detach.IsDone(ctx, in)
}

// newDetach returns a call with its input to detach the objects of a bundle. The call is nil if the bundle has no inventory.
func (e *Engine) newDetach(ctx context.Context, c cluster.Cluster, b *Bundle) (*call, detach.Input, error) {
	w, err := e.newCallByName(ctx, c, b, nil)
	if err != nil {
		return nil, detach.Input{}, err
	}
	inv, err := w.store.loadOwn(ctx)
	if inv == nil && err == nil {
		err = confirm(ctx, w.c, w.where, w.e.messages)
	}
	if inv == nil || err != nil {
		w.end()
		return nil, detach.Input{}, err
	}
	return w, detach.Input{
		Client: w.client, Marks: w.marks(), Cluster: w.c, Entries: inv.Objects, Concurrency: e.concurrency,
		Identity: detach.Identity{Set: w.id, Labels: slices.Sorted(maps.Keys(w.labels())), FieldManager: e.identity.FieldManager},
	}, nil
}

// firstOf returns an error, or another one if it is nil.
func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// removalWithout returns the result of a removal that cannot see the objects. If it only waits for lists, it still reports that it rebuilt
// the inventory, because the next call finds it stored.
func removalWithout(rebuilt *inventory.Rebuilt, err error) (Removal, error) {
	if l := (*cluster.ListingError)(nil); rebuilt != nil && errors.As(err, &l) {
		return Removal{State: Processing, Message: err.Error(), Rebuilt: rebuilt}, nil
	}
	return Removal{}, err
}
