// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// installs runs the hooks of the installs of a plan, and records their releases. It implements execute.Installs.
type installs struct{ *call }

// RunPre runs the hooks that come before the objects of a component.
func (i *installs) RunPre(ctx context.Context, c *compose.Component, v execute.View) (execute.Hooked, error) {
	a := i.attempt(c, v)
	s, err := a.RunPre(ctx)
	return execute.Hooked{Standing: s, Effect: a.Effect, Run: a.Run}, err
}

// RunPost runs the hooks that come after the objects of a component.
func (i *installs) RunPost(ctx context.Context, c *compose.Component, v execute.View) (execute.Hooked, error) {
	a := i.attempt(c, v)
	s, err := a.RunPost(ctx)
	return execute.Hooked{Standing: s, Effect: a.Effect, Run: a.Run}, err
}

// attempt returns the attempt to install a chart with hooks.
func (i *installs) attempt(c *compose.Component, v execute.View) *hook.Attempt {
	in := c.Installation
	return &hook.Attempt{
		Operation: c.Next.Operation, Release: in.Release.Name, Run: v.Run, Effect: hook.Effect{Record: v.Record},
		First: inventory.Run{Inputs: c.Digest, Retry: i.o.Retry, Revision: c.Next.Number, Before: c.Next.Before},
		Note:  c.NoteHooks,
		Prepare: func(ctx context.Context, run *inventory.Run) ([]hook.Hook, error) {
			return i.prepareHooks(ctx, c.Hooks, c.Name, in, run, v.OwnerOf)
		},
		Runner: i.hookRunner(), Save: v.Save,
		Records: release.Attempt{History: i.history(), Installation: c.ReleaseAt(i.e.now(), v.Run)},
	}
}

// Finish records the release of a component whose objects are all applied, and ends the release that it replaces under another
// name or in another namespace. Plain objects have no release.
func (i *installs) Finish(ctx context.Context, c *compose.Component, v execute.View) (execute.Installed, error) {
	h, rec := i.history(), v.Record
	if c.Rendered == nil {
		if err := h.EndFormer(ctx, c.Name, &rec); err != nil {
			return execute.Installed{}, err
		}
		release.Forget(&rec)
		return execute.Installed{Name: c.Name.Install(), Record: rec}, nil
	}
	pruned, err := h.Finish(ctx, c.ReleaseAt(i.e.now(), v.Run), &rec, i.composer.HasFormer(ctx, c, v.IsMember))
	if err != nil {
		return execute.Installed{Pruned: pruned}, err
	}
	c.NoteHooks(&rec)
	out := execute.Installed{Name: rec.Chart + " " + rec.Version, Record: rec, Pruned: pruned}
	if v.Run != nil {
		out.Hooks = v.Run.Done
	}
	return out, nil
}

// Abandon deletes the records that an unfinished move left under a name or in a namespace that the bundle no longer uses.
func (i *installs) Abandon(ctx context.Context, c *compose.Component) error {
	return i.history().Delete(ctx, c.Next.Abandoned)
}

// test runs the requested tests. As with helm test, the hooks come from the release records.
func (i *installs) test(ctx context.Context, in execute.TestInput) (execute.Tested, error) {
	t := &hook.Tester{
		Runner: i.hookRunner(), Save: in.Save,
		Prepare: func(ctx context.Context, p *hook.Tested, run *inventory.Run) ([]hook.Hook, error) {
			hooks, _, err := i.recordedHooks(ctx, p.Part, p.Release, run, in.OwnerOf)
			return hooks, err
		},
	}
	for n := range i.parts {
		name := i.parts[n].Name
		if rec := in.Records[name]; rec.TestHooks {
			t.Parts = append(t.Parts, hook.Tested{Part: name, Release: rec.ReleaseOf(name), Revision: rec.Revision, Timeout: rec.HookTimeoutOf()})
		}
	}
	s, err := t.Advance(ctx, hook.BeginTests(in.Tests, i.o.Test))
	return execute.Tested{Standing: s, Tests: t.Progress}, err
}

// A pruner deletes what the bundle no longer contains. It implements execute.Pruner.
type pruner struct {
	*call

	// objects is what was known about the objects of the inventory before the run.
	objects inspect.Objects
}

// Prune deletes objects, and runs the deletion hooks of pruned installs.
func (p *pruner) Prune(ctx context.Context, what execute.Prune) (teardown.Result, error) {
	hooks := p.removalHooks(what.Records, what.Parts, what.OwnerOf, what.Save)
	objects := p.objects
	objects.States = what.Objects
	res, err := p.teardown(ctx, teardown.Prune, what.Entries, objects, hooks)
	maps.DeleteFunc(p.mem.settled, func(ref cluster.ObjectRef, _ string) bool { return res.Done[ref] })
	return res, err
}

// Forget deletes the release records of a part.
func (p *pruner) Forget(ctx context.Context, part object.PartID, rec inventory.Part) error {
	return p.history().DeleteOf(ctx, part, &rec, p.b.Adopt)
}
