// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// finish the components whose objects are all applied, and prune.
func (r *run) finish(ctx context.Context) {
	for _, c := range r.plan.Components {
		if r.plan.IsStopped(c.Name) || !r.plan.IsComplete(c) {
			continue
		}
		if err := r.finishComponent(ctx, c); err != nil {
			r.plan.Fail(c.Name, err)
		}
	}
	r.prune(ctx)
}

// finishComponent prunes what the component no longer has, records its release, and remembers its inputs.
func (r *run) finishComponent(ctx context.Context, c *compose.Component) error {
	r.plan.Release(c)
	rec := r.plan.Inventory.Parts[c.Name]
	if rec.Digest == c.Digest {
		return nil
	}
	if c.Installation != nil {
		done, err := r.Installs.Finish(ctx, c, &rec)
		r.result.Pruned = append(r.result.Pruned, done.Pruned...)
		if err != nil {
			return err
		}
		r.result.Installed = append(r.result.Installed, done.Name)
		r.result.HooksRun += done.Hooks
	}
	rec.Digest = c.Digest
	r.plan.Inventory.Parts[c.Name] = rec
	return nil
}

// prune the objects that no part wants any more, the last stage first, and the parts that are not in the bundle.
func (r *run) prune(ctx context.Context) {
	r.plan.OrphanResource()
	p := r.plan.Prune()
	if len(p.Entries) == 0 && len(p.Parts) == 0 {
		return
	}
	if r.plan.Incomplete {
		// A part that cannot be composed may want them.
		r.plan.NoteWaiting("pruning waits until all installs can be rendered")
		return
	}
	res, err := r.Pruner.Prune(ctx, p)
	r.failPrune(err)
	r.plan.NoteWaiting(res.Blocked.Message)
	r.result.Kept = append(r.result.Kept, res.Kept...)
	r.result.LeftBehind = append(r.result.LeftBehind, res.LeftBehind...)
	r.result.Pruned = append(r.result.Pruned, res.Deleted(p.Entries)...)
	r.plan.Inventory.Drop(func(e *inventory.Entry) bool { return e.Pruned && res.Done[e.Ref()] })
	r.dropParts(ctx, p.Parts, err == nil && res.Blocked.Message == "")
}

func (r *run) failPrune(err error) {
	if r.pruneErr == nil {
		r.pruneErr = err
	}
}

// dropParts whose objects are all gone, with their releases. The last hooks of a part may still have to run, unless all of the removal
// is done.
func (r *run) dropParts(ctx context.Context, parts []string, done bool) {
	if !done {
		parts = slices.DeleteFunc(slices.Clone(parts), func(name string) bool { return r.plan.Inventory.Parts[name].DeleteHooks })
	}
	for _, name := range r.plan.EmptyParts(parts) {
		if err := r.Pruner.Forget(ctx, name, r.plan.Inventory.Parts[name]); err != nil {
			r.failPrune(err)
			continue
		}
		delete(r.plan.Inventory.Parts, name)
	}
}

// test runs the tests that were requested, once all is up to date. What goes wrong on the way is an error of the run; a test that
// fails is not.
func (r *run) test(ctx context.Context) {
	if r.Test == nil || !r.plan.IsClear() || r.pruneErr != nil || !r.plan.IsApplied() {
		return
	}
	waiting, err := r.Test(ctx)
	r.testErr = err
	r.plan.NoteWaiting(waiting)
	if t := r.plan.Inventory.Tests; t != nil && t.Over {
		r.result.Tested = observe.TestStates(t)
	}
}
