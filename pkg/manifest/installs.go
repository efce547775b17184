// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// installs runs the hooks of the installs of a plan, and records their releases. It implements execute.Installs.
type installs struct {
	composer *compose.Composer
	history  release.History
	hooks    *hooks
	now      func() time.Time
}

// RunPre runs the hooks of a component that precede its objects.
func (i *installs) RunPre(ctx context.Context, c *compose.Component, v execute.View) (execute.Hooked, error) {
	a := i.attempt(c, v)
	s, err := a.RunPre(ctx)
	return execute.Hooked{Standing: s, Effect: a.Effect, Run: a.Run}, err
}

// RunPost runs the hooks of a component that follow its objects.
func (i *installs) RunPost(ctx context.Context, c *compose.Component, v execute.View) (execute.Hooked, error) {
	a := i.attempt(c, v)
	s, err := a.RunPost(ctx)
	return execute.Hooked{Standing: s, Effect: a.Effect, Run: a.Run}, err
}

// attempt returns the attempt to install a chart that has hooks or renders differently each time.
func (i *installs) attempt(c *compose.Component, v execute.View) *hook.Attempt {
	in := c.Installation
	return &hook.Attempt{
		Operation: c.Next.Operation, Release: in.Release.Name, Run: v.Run, Effect: hook.Effect{Record: v.Record},
		First: inventory.Run{Inputs: c.Digest, Content: c.Content, Retry: i.hooks.retry, Revision: c.Next.Number, Before: c.Next.Before},
		Note:  c.NoteHooks, Random: !c.Rendered.Pure,
		Prepare: func(ctx context.Context, run *inventory.Run) ([]hook.Hook, error) {
			prepared, err := i.hooks.prepare(ctx, c.Hooks, c.Name, in, run, v.OwnerOf)
			for n := range prepared {
				// Other namespaces of the bundle are applied after the hooks that precede the objects.
				prepared[n].OwnNamespace = prepared[n].Ref.Namespace == in.Namespace && c.OwnNamespaces[in.Namespace]
			}
			return prepared, err
		},
		Runner: i.hooks.runner, Save: v.Save,
		Records: release.RevisionRecorder{History: i.history, Installation: c.ReleaseAt(i.now(), v.Run)},
	}
}

// Finish records the release of a component whose objects are all applied. It also ends the release with another name or
// namespace that this release replaces. Plain objects have no release.
func (i *installs) Finish(ctx context.Context, c *compose.Component, v execute.View) (execute.Installed, error) {
	rec := v.Record
	if c.Rendered == nil {
		if err := i.history.EndFormer(ctx, c.Name, &rec); err != nil {
			return execute.Installed{}, err
		}
		release.Forget(&rec)
		return execute.Installed{Name: c.Name.Install(), Record: rec}, nil
	}
	pruned, err := i.history.Finish(ctx, c.ReleaseAt(i.now(), v.Run), &rec, i.composer.HasFormer(ctx, c, v.IsMember))
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
	return i.history.Delete(ctx, c.Next.Abandoned)
}

// A tester runs the tests of a bundle.
type tester struct {
	hooks *hooks
	parts []bundle.Part
	// test is the token that requests the tests.
	test string
}

// run runs the requested tests. It gets the test hooks from the release records, like helm test.
func (t *tester) run(ctx context.Context, in execute.TestInput) (execute.Tested, error) {
	of := &hook.Tester{
		Runner: t.hooks.runner, Save: in.Save,
		Prepare: func(ctx context.Context, p *hook.Tested, run *inventory.Run) ([]hook.Hook, error) {
			prepared, _, err := t.hooks.prepareRecorded(ctx, p.Part, p.Release, run, in.OwnerOf)
			return prepared, err
		},
	}
	for n := range t.parts {
		name := t.parts[n].Name
		if rec := in.Records[name]; rec.TestHooks {
			of.Parts = append(of.Parts, hook.Tested{Part: name, Release: rec.ReleaseOf(name), Revision: rec.Revision, Timeout: rec.HookTimeoutOf()})
		}
	}
	s, err := of.Advance(ctx, hook.BeginTests(in.Tests, t.test))
	return execute.Tested{Standing: s, Tests: of.Progress}, err
}
