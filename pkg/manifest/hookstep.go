// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// hookEvents of an install that is being applied.
func (w *work) hookEvents(pl *planned) (pre, post string) {
	switch {
	case !pl.upgrade():
		return eventPreInstall, eventPostInstall
	case w.s.RollingBack:
		return eventPreRollback, eventPostRollback
	}
	return eventPreUpgrade, eventPostUpgrade
}

// upgrade says whether a revision was deployed before. As long as none was, each attempt is an install.
func (pl *planned) upgrade() bool {
	return pl.before > pl.rec.Origin
}

// planHooks that run while an install is applied. Drift is repaired without them, and so is an inventory that was lost.
func (w *work) planHooks(pl *planned) {
	if pl.repair || pl.settled || pl.in.config.DisableHooks {
		return
	}
	if pre, post := w.hookEvents(pl); has(pl.rendered.Hooks, pre, post) {
		pl.hooks = pl.rendered.Hooks
	}
}

// noteHooks records the hooks that must be known without the chart.
func noteHooks(r *inventory.Part, pl *planned) {
	r.DeleteHooks = !pl.in.config.DisableHooks && has(pl.rendered.Hooks, eventPreDelete, eventPostDelete)
	r.TestHooks = has(pl.rendered.Hooks, eventTest)
}

// stuckBefore says why a part is not even planned: a hook failed before any of its objects was applied, or after all of
// them were and are as they were applied.
func (st *step) stuckBefore(p *part, rec *inventory.Part) string {
	why := rec.Stuck(p.digest, st.s.Retry)
	if why == "" || (isPost(rec.Run.Event) && st.unfinished(p.name)) {
		return ""
	}
	return why
}

// isPost reports whether an event comes after the objects of a chart were applied.
func isPost(event string) bool {
	return event == eventPostInstall || event == eventPostUpgrade || event == eventPostRollback
}

// preHooks of the installs. What comes after one that waits for a hook is applied after it, so that the objects of all
// are applied in order; what was applied before with the same inputs is not held back. It says whether an install may go
// on that could not before.
func (st *step) preHooks(ctx context.Context) bool {
	on, waits := false, ""
	for _, pl := range st.plans {
		if waits != "" && !pl.repair && !st.stopped(pl.name) {
			st.wait(pl.name, waits)
		}
		if pl.hooks == nil || st.stopped(pl.name) {
			continue
		}
		waiting, err := st.preHooksOf(ctx, pl)
		switch {
		case err != nil:
			st.fail(pl.name, err)
		case waiting != "":
			st.wait(pl.name, waiting)
			waits = fmt.Sprintf("waits for install %s: %s", pl.name, waiting)
		default:
			on = true
		}
	}
	return on
}

func (st *step) preHooksOf(ctx context.Context, pl *planned) (string, error) {
	if err := st.beginRun(ctx, pl); err != nil {
		return "", err
	}
	pre, post := st.hookEvents(pl)
	if isPost(pl.run.Event) {
		return "", nil
	}
	waiting, err := st.runHooks(ctx, pl, pre)
	if err == nil && waiting == "" {
		pl.run.Next(post)
		st.keepRun(pl)
	}
	return waiting, err
}

// postHooks of the installs whose objects are all applied. What the new revision no longer has goes first.
func (st *step) postHooks(ctx context.Context) {
	var ready []*planned
	for _, pl := range st.plans {
		if pl.hooks == nil || st.stopped(pl.name) || !st.complete(pl) {
			continue
		}
		st.giveUp(pl)
		ready = append(ready, pl)
	}
	if len(ready) == 0 {
		return
	}
	st.hooked = st.dropUnwanted(ctx) || st.hooked
	for _, pl := range ready {
		waiting, err := st.postHooksOf(ctx, pl)
		switch {
		case err != nil:
			st.fail(pl.name, err)
		case waiting != "":
			st.wait(pl.name, waiting)
		}
	}
}

// postHooksOf an install. Where its config says Wait, they run once it is ready, as with Helm.
func (st *step) postHooksOf(ctx context.Context, pl *planned) (string, error) {
	if pl.rec.Wait && pl.run.Started == 0 && pl.run.Index == 0 {
		what, err := st.unready(ctx, pl.name)
		if err != nil || what != "" {
			return "hooks " + pl.run.Event + " wait until it is ready, as config asks for with Wait: " + what, err
		}
	}
	return st.runHooks(ctx, pl, pl.run.Event)
}

// holds an object of an install back whose first hooks have not run. Definitions in crds/ come before all hooks, as in
// Helm, and so does the namespace that the hooks are in.
func (pl *planned) holds(o *object.Desired) bool {
	if pl.hooks == nil || (pl.run != nil && isPost(pl.run.Event)) {
		return false
	}
	if o.Stage == object.StageNamespaces {
		return o.Ref.Name != pl.in.namespace
	}
	if o.Stage == object.StageCRDs {
		for _, crd := range pl.rendered.CRDs {
			if crd.GetName() == o.Ref.Name {
				return false
			}
		}
	}
	return true
}

// beginRun of hooks, or go on with the one that is there.
func (st *step) beginRun(ctx context.Context, pl *planned) error {
	rec := st.inv.Parts[pl.name]
	if rec.Resumes(pl.digest, st.s.Retry) {
		run := *rec.Run
		pl.run = &run
		return nil
	}
	if err := st.cutShort(ctx, pl); err != nil {
		return err
	}
	pre, _ := st.hookEvents(pl)
	pl.run = inventory.NewRun(inventory.Run{Event: pre, Inputs: pl.digest, Retry: st.s.Retry, Revision: pl.next, Before: pl.before})
	noteHooks(&rec, pl)
	st.inv.Parts[pl.name] = rec
	if err := st.saveRun(ctx, pl); err != nil {
		return err
	}
	if err := st.recordPending(ctx, pl); err != nil {
		return err
	}
	pl.run.Recorded, pl.first = true, false
	st.keepRun(pl)
	return nil
}

// cutShort the run of other inputs, if there is one: its revision will never be deployed.
func (st *step) cutShort(ctx context.Context, pl *planned) error {
	old := st.inv.Parts[pl.name].Run
	if old == nil || !old.Recorded || old.Failed != "" {
		return nil
	}
	_, err := st.describe(ctx, pl.in.home, old.Revision, render.StatusFailed, "Replaced by a newer version while its hooks ran")
	return err
}

// keepRun in the inventory that is written at the end of the step.
func (st *step) keepRun(pl *planned) {
	rec, run := st.inv.Parts[pl.name], *pl.run
	rec.Run = &run
	st.inv.Parts[pl.name] = rec
	st.hooked = true
}

// saveRun at once.
func (st *step) saveRun(ctx context.Context, pl *planned) error {
	st.keepRun(pl)
	return st.save(ctx, st.inv, false)
}

// runHooks of one event as far as that goes.
func (st *step) runHooks(ctx context.Context, pl *planned, event string) (string, error) {
	rec := st.inv.Parts[pl.name]
	hooks, err := st.hooksOf(ctx, pl.hooks, pl.name, pl.in.namespace, pl.run)
	if err != nil {
		return "", err
	}
	for i := range hooks {
		hooks[i].KeepNamespaces = pl.in.keepNamespaces
	}
	h := &hookRunner{
		work: st.work, hooks: hooks, timeout: rec.HookTimeoutOf(), run: pl.run, saved: *pl.run,
		save: func(ctx context.Context) error { return st.saveRun(ctx, pl) },
		taken: func(k cluster.ObjectRef) {
			st.inv.Drop(func(e *inventory.Entry) bool { return e.Ref() == k && !st.wantsObject(k) })
		},
	}
	over := pl.run.Over
	waiting, err := h.advance(ctx)
	if *pl.run != h.saved {
		st.keepRun(pl)
	}
	if err != nil || waiting != "" || pl.run.Failed == "" {
		return waiting, err
	}
	why := errors.New(pl.run.Failed)
	if over {
		return "", why
	}
	text := fmt.Sprintf("Release %q failed %s: %s", pl.in.home.Name, event, pl.run.Failed)
	if pl.upgrade() {
		text = fmt.Sprintf("Upgrade %q failed: %s hooks failed: %s", pl.in.home.Name, event, pl.run.Failed)
	}
	if _, err := st.describe(ctx, pl.in.home, pl.run.Revision, render.StatusFailed, text); err != nil {
		// It is over only once the record says so.
		pl.run.Over = false
		st.keepRun(pl)
		return "", errors.Wrap(err, pl.run.Failed)
	}
	return "", why
}

// applyHeld applies what waited for the first hooks of an install, of the stages that are over.
func (st *step) applyHeld(ctx context.Context) {
	if !st.preHooks(ctx) {
		return
	}
	st.applyStage(ctx, object.StageNamespaces)
	st.applyStage(ctx, object.StageCRDs)
	st.awaitDefinitions()
}

// seeStuck notes that nothing more is done for a part.
func (w *work) seeStuck(name string, run *inventory.Run) {
	if w.stuck == nil {
		w.stuck = map[string]bool{}
	}
	w.stuck[name] = !isPost(run.Event)
}

// wantsObject says whether an object is planned.
func (st *step) wantsObject(k cluster.ObjectRef) bool {
	for _, pl := range st.plans {
		for i := range pl.objects {
			if pl.objects[i].Ref == k {
				return true
			}
		}
	}
	return false
}
