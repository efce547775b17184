// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A Result says what a call did.
type Result struct {
	// Created and Updated count objects.
	Created, Updated int
	// Pruned are the objects that are gone because the bundle no longer has them.
	Pruned []cluster.ObjectRef
	// Kept are the objects that the bundle no longer has and that were orphaned instead of deleted, as their annotation
	// helm.sh/resource-policy asks for, and those that they cannot be without.
	Kept []cluster.ObjectRef
	// LeftBehind are the objects that the bundle no longer has, and that are not those that were applied. They stay as they are.
	LeftBehind []cluster.ObjectRef
	// HookFailures say why hooks of installs that the bundle no longer has failed without keeping anything from being deleted. They are
	// told once all of that is gone.
	HookFailures []string
	// Recreated are the objects that were deleted to be created again, as a field of them cannot be changed.
	Recreated []cluster.ObjectRef
	// Repaired is the drift that was repaired, with its fields.
	Repaired []observe.Drift
	// Ceded are fields that from now on are ceded to others, which set them.
	Ceded []observe.CededField
	// Waiting is what the rest waits for; empty if nothing is left to do.
	Waiting string
	// Installed are the charts of which a new revision was installed, as name version, and the installs of plain objects
	// that were installed again, by name.
	Installed []string
	// HooksRun counts the hooks of the revisions that were installed.
	HooksRun int
	// Tested are the tests that are over since this call.
	Tested []observe.TestState
}

// A Report is what became of a run.
type Report struct {
	Result Result
	// Why the run went no further, in the form in which the inventory keeps it; nil for no reason, and where the time of the call is over.
	Why *inventory.Reasons
	// Inventory as the run left it; nil where it could not be saved before anything was sent.
	Inventory *inventory.Inventory
}

// A run is one call of Run.
type run struct {
	Input

	progress *progress
	// saved is the inventory as it was saved last.
	saved  *inventory.Inventory
	result Result
	// pruneErr and testErr are errors that belong to no part.
	pruneErr, testErr error
}

// saveTimeout is for the last save of a run, which is made even if the time of the call is over: without it, everything would have
// to be applied again.
const saveTimeout = 10 * time.Second

// Run a plan. The error is that the inventory cannot be saved, or else what failed, in one line. There is a report in any case.
func Run(ctx context.Context, in Input) (Report, error) {
	r := &run{Input: in, progress: newProgress(in.Plan), saved: in.Plan.Inventory}
	if err := r.begin(ctx); err != nil {
		return Report{Result: r.summarize()}, err
	}
	r.apply(ctx)
	why, err := r.conclude(ctx)
	if err == nil {
		err = r.err()
	}
	return Report{Result: r.summarize(), Why: why, Inventory: r.progress.inventory}, err
}

// begin saves what is about to be applied.
func (r *run) begin(ctx context.Context) error {
	p := r.progress
	if r.Checkpoint != nil {
		p.inventory.Good = r.Checkpoint.Kept()
	}
	r.abandon(ctx)
	save := p.intend() || r.Write || r.Checkpoint != nil
	for ref := range p.restarted {
		r.Applier.Contention.Forget(ref)
	}
	if !save {
		return nil
	}
	return r.save(ctx)
}

// save the inventory.
func (r *run) save(ctx context.Context) error {
	saved, err := r.Save(ctx, r.progress.inventory)
	if err == nil {
		r.saved = saved
	}
	return err
}

// apply the objects of all stages, run the hooks between them, and do what comes after.
func (r *run) apply(ctx context.Context) {
	p := r.progress
	for _, s := range object.Stages {
		r.applyStage(ctx, s)
		switch s {
		case object.StageCRDs:
			p.note(p.awaitCRDs(r.Latest)...)
			r.applyHeld(ctx)
		case object.StageWebhooks:
			r.runPost(ctx)
			p.note(p.awaitInstalls()...)
		default:
		}
	}
	r.finish(ctx)
	r.test(ctx)
}

// conclude saves the inventory with the reasons why the run went no further, unless that is what is saved, and returns the reasons. A
// call that is over knows nothing better than the one before. Where there is nothing else to save, the reasons may be lost: the next
// call saves them again.
func (r *run) conclude(ctx context.Context) (*inventory.Reasons, error) {
	inv := r.progress.inventory
	optional := inv.Equal(r.saved)
	var why *inventory.Reasons
	if ctx.Err() == nil {
		why = inventory.Conclude(inv, r.reasons(), r.Retry, r.Redact)
		if !why.Same(inv.Last) {
			inv.Last = why
		}
	}
	if inv.Equal(r.saved) {
		return why, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := r.save(ctx); err != nil && !optional {
		return why, err
	}
	return why, nil
}

// abandon the releases that never arrived where they were to move to, before the inventory forgets them.
func (r *run) abandon(ctx context.Context) {
	for _, c := range slices.Clone(r.progress.components) {
		if c.Next.Abandoned.IsZero() {
			continue
		}
		if err := r.Installs.Abandon(ctx, c); err != nil {
			r.progress.drop(c, err)
		}
	}
}

// reasons returns why a run went no further.
func (r *run) reasons() inventory.Reasons {
	p := r.progress
	out := inventory.Reasons{Failed: map[object.PartID]inventory.Failure{}, Held: p.verdicts.Held()}
	out.Waiting, _ = p.verdicts.Waiting()
	for i := range p.plan.Parts {
		part := &p.plan.Parts[i]
		if failure, failed := p.verdicts.Failure(part.Name); failed {
			out.Failed[part.Name] = inventory.Failure{Digest: part.Digest, Message: failure.Reason}
		}
	}
	if r.pruneErr != nil {
		out.Pruning = plan.Why(r.pruneErr)
	}
	return out
}

// summarize returns the result. Objects are applied in no order, so that what was repaired is sorted.
func (r *run) summarize() Result {
	out := r.result
	out.Waiting, _ = r.progress.verdicts.Waiting()
	slices.SortFunc(out.Repaired, func(a, b observe.Drift) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// err returns what failed in one line; nil for nothing.
func (r *run) err() error {
	var all []failure
	for i := range r.progress.plan.Parts {
		part := &r.progress.plan.Parts[i]
		v, failed := r.progress.verdicts.Failure(part.Name)
		switch {
		case failed && v.Err == nil:
			all = append(all, failure{title: part.Name.String(), err: errors.New(v.Reason)})
		case failed:
			all = append(all, failure{title: part.Name.String(), err: v.Err})
		}
	}
	if r.pruneErr != nil {
		all = append(all, failure{title: "pruning", err: r.pruneErr})
	}
	if r.testErr != nil {
		all = append(all, failure{title: "tests", err: r.testErr})
	}
	return join(all)
}
