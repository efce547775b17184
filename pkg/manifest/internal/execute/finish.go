// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// finish finishes the components whose objects are all applied, and prunes.
func (r *run) finish(ctx context.Context) {
	p := r.progress
	for _, c := range p.components {
		if p.decisions.Stop(c.Name) {
			continue
		}
		if reason, missing := p.missing(c); missing {
			p.wait(c.Name, reason)
			continue
		}
		if err := r.finishComponent(ctx, c); err != nil {
			p.fail(c.Name, err)
		}
	}
	r.prune(ctx)
}

// finishComponent marks for pruning the objects that the component no longer contains, records the release of the component, and
// stores the digest of its inputs.
func (r *run) finishComponent(ctx context.Context, c *compose.Component) error {
	r.progress.markPruned(c)
	rec := r.progress.inventory.Parts[c.Name]
	if rec.Digest == c.Digest {
		return nil
	}
	if c.Installation != nil && !c.Purpose.Restores() {
		done, err := r.Installs.Finish(ctx, c, r.view(c))
		r.result.Pruned = append(r.result.Pruned, done.Pruned...)
		if err != nil {
			return err
		}
		r.result.Installed = append(r.result.Installed, done.Name)
		r.result.HooksRun += done.Hooks
		rec = done.Record
	}
	rec.Digest, rec.Content = c.Digest, c.Content
	if r.progress.heirs[c.Name] {
		rec.Reapply()
	}
	r.progress.inventory.Parts[c.Name] = rec
	return nil
}

// prune deletes the objects that no part contains, the last stage first, and drops the parts that are not in the bundle.
func (r *run) prune(ctx context.Context) {
	p := r.progress
	p.markLeaving()
	what := p.doomed()
	if len(what.Entries) == 0 && len(what.Parts) == 0 {
		return
	}
	if p.decisions.IsIncomplete() {
		// A part that cannot be composed may contain some of the objects.
		p.wait(object.WholeBundle, "pruning is paused until all installs can be rendered")
		return
	}
	what.Confirm = r.confirmOnce
	what.Save = func(ctx context.Context, part object.PartID, rec inventory.Part) error {
		p.inventory.Parts[part] = rec
		return r.save(ctx)
	}
	res, err := r.Pruner.Prune(ctx, what)
	if err != nil {
		r.failPrune(err)
	}
	if res.Blocked.Waits() {
		p.wait(object.WholeBundle, cmp.Or(res.Blocked.Message, "pruning is paused"))
	}
	r.result.Kept = append(r.result.Kept, res.Kept...)
	r.result.KeptAdopted = append(r.result.KeptAdopted, res.KeptAdopted...)
	r.result.HandedOver = append(r.result.HandedOver, res.HandedOver...)
	r.result.LeftBehind = append(r.result.LeftBehind, res.LeftBehind...)
	r.result.Pruned = append(r.result.Pruned, res.Deleted(what.Entries)...)
	p.inventory.Drop(func(e *inventory.Entry) bool { return e.Pruned && res.Done[e.Ref()] })
	done := err == nil && !res.Blocked.Waits()
	if done {
		r.result.HookFailures = append(r.result.HookFailures, res.HookFailures...)
	}
	r.dropParts(ctx, what.Parts, done)
}

// failPrune records an error of pruning, unless an earlier one is recorded.
func (r *run) failPrune(err error) {
	if r.pruneErr == nil {
		r.pruneErr = err
	}
}

// dropParts drops the parts whose objects are all gone, with their releases. Unless done is set, it keeps parts with deletion
// hooks, because their last hooks may still have to run.
func (r *run) dropParts(ctx context.Context, parts []object.PartID, done bool) {
	if !done {
		parts = slices.DeleteFunc(slices.Clone(parts), func(part object.PartID) bool { return r.progress.retired(part).DeleteHooks })
	}
	for _, name := range r.progress.emptyParts(parts) {
		err := r.confirmOnce(ctx)
		if err == nil {
			err = r.Pruner.Forget(ctx, name, r.progress.retired(name))
		}
		if err != nil {
			r.failPrune(err)
			continue
		}
		delete(r.progress.inventory.Parts, name)
	}
}

// test runs the requested tests once everything is up to date. If a test cannot run, the run returns an error; if a test fails,
// it does not.
func (r *run) test(ctx context.Context) {
	p := r.progress
	if r.Test == nil || !p.decisions.IsClear() || r.pruneErr != nil || !p.isApplied() {
		return
	}
	done, err := r.Test(ctx, TestInput{
		Tests: p.inventory.Tests, Records: maps.Clone(p.inventory.Parts), OwnerOf: p.ownerOf,
		Save: func(ctx context.Context, t *inventory.Tests) error {
			p.inventory.Tests = t
			return r.save(ctx)
		},
	})
	if done.Tests != nil {
		p.inventory.Tests = done.Tests
	}
	r.testErr = err
	if done.Waits() {
		p.wait(object.WholeBundle, done.Message)
	}
	if t := p.inventory.Tests; t != nil && t.Over {
		r.result.Tested = observe.TestStates(t)
	}
}
