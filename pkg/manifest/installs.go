// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// installs runs the hooks of the installs of a plan, and records their releases. It implements execute.Installs.
type installs struct {
	call     *call
	progress *execute.Progress
}

// RunPre runs the hooks before the objects of a component are applied.
func (i *installs) RunPre(ctx context.Context, c *compose.Component) (*inventory.Run, string, error) {
	a := i.attempt(c, nil)
	waiting, err := a.RunPre(ctx)
	return a.Run, waiting, err
}

// RunPost runs the hooks after the objects of a component were applied.
func (i *installs) RunPost(ctx context.Context, c *compose.Component, run *inventory.Run) (string, error) {
	return i.attempt(c, run).RunPost(ctx)
}

// attempt returns the attempt to install a chart that has hooks. Run is the run of the hooks; nil if it has not begun.
func (i *installs) attempt(c *compose.Component, run *inventory.Run) *hook.Attempt {
	w, in := i.call, c.Installation
	a := &hook.Attempt{
		Operation: c.Next.Operation, Release: in.Release.Name, Run: run,
		First: inventory.Run{Inputs: c.Digest, Retry: w.o.Retry, Revision: c.Next.Number, Before: c.Next.Before},
		Note:  c.NoteHooks,
		Prepare: func(ctx context.Context, run *inventory.Run) ([]hook.Hook, error) {
			return w.prepareHooks(ctx, c.Hooks, c.Name, in, run, i.progress.OwnerOf)
		},
		Runner: w.hookRunner(), Store: attemptStore{installs: i, part: c.Name},
		Records: release.Attempt{History: w.history(), Installation: c.ReleaseAt(w.e.now(), run)},
	}
	a.Runner.Take = func(ref cluster.ObjectRef) {
		if i.progress.OwnerOf(ref) == "" {
			i.progress.Inventory.Drop(func(e *inventory.Entry) bool { return e.Ref() == ref })
		}
	}
	return a
}

// Finish records the release of a component whose objects are all applied, and ends the release in the place that it moved from.
// Plain objects have no release.
func (i *installs) Finish(ctx context.Context, c *compose.Component, run *inventory.Run, rec *inventory.Part) (execute.Installed, error) {
	h := i.call.history()
	if c.Rendered == nil {
		if err := h.EndFormer(ctx, c.Name, rec); err != nil {
			return execute.Installed{}, err
		}
		release.Forget(rec)
		return execute.Installed{Name: c.Name.Install()}, nil
	}
	pruned, err := h.Finish(ctx, c.ReleaseAt(i.call.e.now(), run), rec, i.call.composer.HasFormer(ctx, c, i.progress.Inventory))
	if err != nil {
		return execute.Installed{Pruned: pruned}, err
	}
	c.NoteHooks(rec)
	out := execute.Installed{Name: rec.Chart + " " + rec.Version, Pruned: pruned}
	if run != nil {
		out.Hooks = run.Done
	}
	return out, nil
}

// Abandon deletes the records of a release in a place that it began to move to, and that the bundle no longer names.
func (i *installs) Abandon(ctx context.Context, c *compose.Component) error {
	return i.call.history().Delete(ctx, c.Next.Abandoned, false)
}

// test runs the tests that were requested, and returns what it waits for. As with helm test, they come from the release records.
func (i *installs) test(ctx context.Context) (string, error) {
	w, inv := i.call, i.progress.Inventory
	t := &hook.Tester{
		Runner: w.hookRunner(),
		Prepare: func(ctx context.Context, p *hook.Tested, run *inventory.Run) ([]hook.Hook, error) {
			hooks, _, err := w.recordedHooks(ctx, p.Part, p.Release, run, i.progress.OwnerOf)
			return hooks, err
		},
		Keep: func(t *inventory.Tests) { inv.Tests = t },
		Save: func(ctx context.Context) error { return w.save(ctx, inv, false) },
	}
	for n := range w.parts {
		name := w.parts[n].Name
		if rec := inv.Parts[name]; rec.TestHooks {
			t.Parts = append(t.Parts, hook.Tested{Part: name, Release: rec.ReleaseOf(name), Revision: rec.Revision, Timeout: rec.HookTimeoutOf()})
		}
	}
	return t.Advance(ctx, hook.BeginTests(inv.Tests, w.o.Test))
}

// An attemptStore reads and saves the record of one part in the inventory of a call.
type attemptStore struct {
	*installs

	part object.PartID
}

func (s attemptStore) Part() inventory.Part { return s.progress.Inventory.Parts[s.part] }

func (s attemptStore) Keep(p inventory.Part) { s.progress.Inventory.Parts[s.part] = p }

func (s attemptStore) Save(ctx context.Context) error {
	return s.call.save(ctx, s.progress.Inventory, false)
}

// A pruner deletes what the bundle no longer has. It implements execute.Pruner.
type pruner struct {
	call     *call
	progress *execute.Progress
}

// Prune deletes objects, and runs the removal hooks of the installs that are pruned.
func (p *pruner) Prune(ctx context.Context, what execute.Prune) (teardown.Result, error) {
	w, inv := p.call, p.progress.Inventory
	hooks := w.removalHooks(inv, what.Parts, p.progress.OwnerOf)
	res, err := w.teardown(ctx, teardown.Prune, what.Entries, p.progress.Objects, hooks)
	maps.DeleteFunc(w.mem.settled, func(ref cluster.ObjectRef, _ string) bool { return res.Done[ref] })
	return res, err
}

// Forget deletes the records of the releases of a part.
func (p *pruner) Forget(ctx context.Context, part object.PartID, rec inventory.Part) error {
	return p.call.history().DeleteOf(ctx, part, &rec, p.call.b.Adopt)
}

// A saver saves the inventory of a call. It implements execute.Inventory.
type saver struct {
	call *call
	// told is true where nothing but the reasons of the call has to be saved.
	told bool
}

// Save the inventory. With create there must be none. Reasons alone may be lost: they are saved again with the next step.
func (s *saver) Save(ctx context.Context, inv *inventory.Inventory, create bool) error {
	if err := s.call.save(ctx, inv, create); !s.told {
		return err
	}
	return nil
}

// Conclude remembers why a call went no further, and adds that to the inventory unless the context of the call has ended.
func (s *saver) Conclude(ctx context.Context, inv *inventory.Inventory, why inventory.Reasons) {
	m := s.call.mem
	m.last = &why
	m.forgetGone(inv)
	m.plan = nil // It was made before this call.
	if ctx.Err() != nil {
		return
	}
	s.told = s.IsSaved(inv)
	if now := inv.WithoutStuck(why, s.call.o.Retry).ToStore(s.call.o.Redact); !now.Same(inv.Last) {
		inv.Last = now
	}
}

// IsSaved reports whether an inventory is as it was saved or read last.
func (s *saver) IsSaved(inv *inventory.Inventory) bool { return inv.Equal(s.call.mem.stored.Inventory) }
