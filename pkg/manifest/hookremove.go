// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A leaving is what a removal needs to run the hooks of the installs that it takes away.
type leaving struct {
	// inv is where their runs are kept, and parts are the installs by name.
	inv   *inventory.Inventory
	parts []string
	// save the inventory at once.
	save func(ctx context.Context) error
	// failed says why hooks failed that block nothing.
	failed string
}

// leavingAll parts of a set. The inventory is copied only if there are hooks.
func (w *work) leavingAll(inv *inventory.Inventory) *leaving {
	l := &leaving{inv: inv}
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		if inv.Parts[name].DeleteHooks {
			l.parts = append(l.parts, name)
		}
	}
	if len(l.parts) > 0 {
		l.inv = inv.Clone()
		l.inv.Good = inv.Good
	}
	l.save = func(ctx context.Context) error { return w.save(ctx, l.inv, false) }
	return l
}

// leavingParts of a set that no longer has them.
func (st *step) leavingParts(gone []string) *leaving {
	return &leaving{inv: st.inv, parts: gone, save: func(ctx context.Context) error { return st.save(ctx, st.inv, false) }}
}

// left are the parts that nothing is to be done for any more once their objects are gone. The last hooks of the others
// may still have to run, unless all of the removal is done.
func (st *step) left(gone []string, done bool) []string {
	if done {
		return gone
	}
	return slices.DeleteFunc(gone, func(name string) bool { return st.inv.Parts[name].DeleteHooks })
}

// deleteHooks of an event of all installs that leave, the last one first. They come from the record of the release, as
// with helm uninstall: the chart may be out of reach.
func (r *remover) deleteHooks(ctx context.Context, event string) (Removal, error) {
	if r.leaving == nil {
		return Removal{}, nil
	}
	for _, name := range slices.Backward(r.leaving.parts) {
		rec := r.leaving.inv.Parts[name]
		if !rec.DeleteHooks {
			continue
		}
		left, err := r.deleteHooksOf(ctx, name, &rec, event)
		if err != nil {
			err = errors.Wrap(err, title(name))
		}
		if err != nil && r.s.ForceRemoval && answered(err) {
			r.leaving.failed = text.OneLine(err.Error())
			continue
		}
		if err != nil {
			return Removal{}, err
		}
		if left.Message != "" {
			left.Message = title(name) + ": " + left.Message
			return left, nil
		}
	}
	return Removal{}, nil
}

// deletion is the run of an event of a removal: the one that is there, if it goes on, or a new one.
func (r *remover) deletion(rec *inventory.Part, event string) *inventory.Run {
	run := rec.Run
	switch {
	case run == nil || (run.Event != eventPreDelete && run.Event != eventPostDelete):
		// A release that never was deployed has the revision whose hooks ran.
		out := inventory.NewRun(inventory.Run{Event: event, Retry: r.s.Retry, Revision: rec.Revision})
		if run != nil && run.Recorded {
			out.Revision = max(out.Revision, run.Revision)
		}
		return out
	case run.Event == event && run.Failed != "" && run.Retry != r.s.Retry:
		return inventory.NewRun(inventory.Run{Event: event, Retry: r.s.Retry, Revision: run.Revision})
	}
	out := *run
	if event == eventPostDelete && out.Event == eventPreDelete {
		out.Next(event)
		out.Failed = ""
	}
	return &out
}

func (r *remover) deleteHooksOf(ctx context.Context, name string, rec *inventory.Part, event string) (Removal, error) {
	run := r.deletion(rec, event)
	switch {
	case event == eventPreDelete && run.Event == eventPostDelete, run.Over && run.Failed == "":
		return Removal{}, nil
	case run.Over:
		return r.hookFailed(event, run.Failed), nil
	}
	hooks, err := r.hooksToDelete(ctx, name, rec.ReleaseOf(name), run)
	if err != nil || len(hooks) == 0 {
		return Removal{}, err
	}
	waiting, err := r.runDeletion(ctx, name, rec, run, hooks)
	switch {
	case err != nil:
		return Removal{}, err
	case waiting != "":
		return Removal{State: Deleting, Message: waiting}, nil
	case run.Failed != "":
		return r.hookFailed(event, run.Failed), nil
	}
	return Removal{}, nil
}

// hooksToDelete by, of the event of a run. Without the record of the release nobody knows of any.
func (r *remover) hooksToDelete(ctx context.Context, name string, h inventory.Release, run *inventory.Run) ([]hook, error) {
	info, err := r.release(ctx, h, run.Revision)
	if err != nil || info == nil {
		return nil, err
	}
	hooks, err := r.hooksOf(ctx, info.Hooks(), name, h.Namespace, run)
	if err != nil || len(hooks) == 0 || run.Event != eventPreDelete || info.Status == render.StatusUninstalling {
		return hooks, err
	}
	_, err = r.describe(ctx, h, run.Revision, render.StatusUninstalling, "Deletion in progress (or silently failed)")
	return hooks, err
}

func (r *remover) runDeletion(ctx context.Context, name string, rec *inventory.Part, run *inventory.Run, hooks []hook) (string, error) {
	hr := &hookRunner{
		work: r.work, hooks: hooks, timeout: rec.HookTimeoutOf(), run: run, taken: func(cluster.ObjectRef) {},
		save: func(ctx context.Context) error {
			rec, copied := r.leaving.inv.Parts[name], *run
			// Should it be wanted again before it is gone, it is another revision.
			rec.Run, rec.Digest = &copied, ""
			r.leaving.inv.Parts[name] = rec
			return r.leaving.save(ctx)
		},
	}
	if rec.Run != nil {
		hr.saved = *rec.Run
	}
	waiting, err := hr.advance(ctx)
	if err == nil {
		err = hr.flush(ctx)
	}
	return waiting, err
}

// hookFailed says what a failed hook means for a removal: before the objects go it blocks, after they went it does not, as
// with Helm.
func (r *remover) hookFailed(event, why string) Removal {
	if event == eventPostDelete || r.s.ForceRemoval {
		r.leaving.failed = why
		return Removal{}
	}
	return Removal{State: Warning, Message: why + "; repair what is wrong and ask for another try, or force the removal"}
}

// leavingState is the state of a part that the set no longer has.
func (w *work) leavingState(name string, run *inventory.Run) (State, string) {
	if run != nil && run.Event == eventPreDelete && run.Over && run.Failed != "" {
		return Error, title(name) + ": " + run.Failed
	}
	return Processing, title(name) + ": " + cmp.Or(w.mem.waiting, "is being removed")
}
