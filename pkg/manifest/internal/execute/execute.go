// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A Result contains what a call did.
type Result struct {
	// Created and Updated count objects.
	Created, Updated int
	// Pruned contains the objects that were deleted because the bundle no longer contains them.
	Pruned []cluster.ObjectRef
	// Kept contains the objects that the bundle no longer contains, and that were orphaned instead of deleted: objects with the
	// annotation helm.sh/resource-policy, and the namespaces and CRDs on which they depend.
	Kept []cluster.ObjectRef
	// KeptAdopted contains the Namespaces, CRDs and volumes that the bundle no longer contains, and that were orphaned because they
	// existed before the bundle adopted them.
	KeptAdopted []cluster.ObjectRef
	// HandedOver contains the CRDs that the bundle no longer contains, and that were orphaned because other bundles use them.
	HandedOver []HandedOver
	// Shared contains the CRDs of other owners that the bundle uses since this call, or that have another owner since, and those that it
	// used before and owns now.
	Shared []SharedCRD
	// ChangedCRDs is true if the call changed or handed over a CRD, which other bundles may use.
	ChangedCRDs bool
	// LeftBehind contains the objects that the bundle no longer contains, and that are not the objects that were applied. They are
	// not changed.
	LeftBehind []teardown.LeftBehind
	// Rebuilt is set if the inventory was rebuilt, because it was lost.
	Rebuilt *inventory.Rebuilt
	// Released contains the custom resources that the bundle no longer contains, because the name or namespace of its resource
	// has changed.
	Released []Released
	// HookFailures contains the failures of deletion hooks of pruned installs that did not block the deletion. They are reported
	// once all objects to prune are gone.
	HookFailures []string
	// Recreated contains the objects that were deleted to be created again, because one of their fields is immutable.
	Recreated []cluster.ObjectRef
	// Repaired contains the repaired drift, with its fields.
	Repaired []observe.Drift
	// Ceded contains the fields that this call ceded to other managers.
	Ceded []observe.CededField
	// Waiting describes what the remaining work waits for. It is empty if nothing is left to do.
	Waiting string
	// Installed contains the installs that were installed: "name version" for a chart that got a new revision, and the name of the
	// install for plain objects.
	Installed []string
	// HooksRun is the number of hooks that ran for the installed revisions.
	HooksRun int
	// Tested contains the tests that ended with this call.
	Tested []observe.TestState
}

// A Released describes a custom resource whose name or namespace has changed in the bundle. The old resource stays in the
// cluster and is no longer part of the bundle, which contains the new resource instead.
type Released struct {
	Resource, Instead cluster.ObjectRef
}

// String names both resources.
func (r Released) String() string {
	return r.Resource.String() + " was replaced by " + r.Instead.String() +
		", is no longer managed, and stays in the cluster"
}

// A Report is the result of a run.
type Report struct {
	Result Result
	// Inventory is the inventory at the end of the run, or nil if it could not be saved before the first request.
	Inventory *inventory.Inventory
}

// A run is the state of one call of Run.
type run struct {
	Input

	progress *progress
	// saved is the last saved inventory, and written is true if an object was written since.
	saved   *inventory.Inventory
	written bool
	// current is true once the run saved or confirmed the inventory.
	current bool
	result  Result
	// pruneErr and testErr are errors that do not belong to a part. Only pruneErr is stored in the inventory: tests that could not
	// run stay due, so that each call tries again and returns the error.
	pruneErr, testErr error
}

// saveTimeout limits the last save of a run. That save is made even if the context has ended, because otherwise everything would
// have to be applied again.
const saveTimeout = 10 * time.Second

// Run carries out a plan. It returns an error if the inventory cannot be saved; otherwise, the error lists all failures in one
// line. The report is valid even if there is an error.
func Run(ctx context.Context, in Input) (Report, error) {
	r := &run{Input: in, progress: newProgress(in.Plan), saved: in.Plan.Inventory}
	if err := r.begin(ctx); err != nil {
		return Report{Result: r.summarize()}, err
	}
	r.apply(ctx)
	err := r.conclude(ctx)
	if err == nil {
		err = r.err()
	}
	return Report{Result: r.summarize(), Inventory: r.progress.inventory}, err
}

// begin saves the intended changes before they are applied.
func (r *run) begin(ctx context.Context) error {
	p := r.progress
	if r.Checkpoint != nil {
		p.inventory.Checkpoint = r.Checkpoint.Kept()
	}
	r.abandon(ctx)
	save := p.intend() || r.Write || r.Checkpoint != nil
	for ref := range p.restarted {
		delete(r.Applier.Repairs, ref)
	}
	if !save {
		return nil
	}
	return r.save(ctx)
}

// save saves the inventory, and records it as saved.
func (r *run) save(ctx context.Context) error {
	saved, err := r.Save(ctx, r.progress.inventory)
	if err == nil {
		r.saved, r.written, r.current = saved, false, true
	}
	return err
}

// confirm returns an error if an object was written since the inventory was saved, and another process has changed the inventory.
func (r *run) confirm(ctx context.Context) error {
	if !r.written || r.Confirm == nil {
		return nil
	}
	return r.Confirm(ctx)
}

// confirmOnce returns an error if the inventory is not the one in the cluster, unless the run has saved or confirmed it: the storage of the
// cluster may have been restored from a backup, and what the inventory lists may belong to others again.
func (r *run) confirmOnce(ctx context.Context) error {
	if r.current || r.Confirm == nil {
		return nil
	}
	err := r.Confirm(ctx)
	r.current = err == nil
	return err
}

// apply applies the objects of all stages, runs the hooks between them, finishes and prunes components, and runs tests.
func (r *run) apply(ctx context.Context) {
	p := r.progress
	r.labelNamespace(ctx)
	for _, s := range object.Stages {
		r.applyStage(ctx, s)
		switch s {
		case object.StageCRDs:
			p.note(p.awaitCRDs(r.Latest)...)
			r.prepare(ctx)
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

// prepare starts watching the kinds of the components that continue, so that they are listed while their objects are applied.
func (r *run) prepare(ctx context.Context) {
	if r.Prepare == nil {
		return
	}
	seen := map[schema.GroupVersionKind]bool{}
	for _, c := range r.progress.components {
		if r.progress.decisions.Stop(c.Name) {
			continue
		}
		for i := range c.Objects {
			seen[c.Objects[i].GVK()] = true
		}
	}
	r.Prepare(ctx, slices.Collect(maps.Keys(seen)))
}

// conclude saves the inventory with the reasons why the run did not get further. If the stored inventory is already equal, as after most
// repairs, it only confirms that another process didn't overtake the run. If the context has ended, it keeps the more complete reasons of
// the previous call. If only the reasons changed, a failed save is not an error: the next call saves them again.
func (r *run) conclude(ctx context.Context) error {
	inv := r.progress.inventory
	optional := inv.Equal(r.saved)
	if ctx.Err() == nil {
		inv.Last = inventory.Conclude(inv, r.reasons(), r.Retry, r.Redact)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if inv.Equal(r.saved) {
		return r.confirm(ctx)
	}
	if err := r.save(ctx); err != nil {
		return r.unsaved(ctx, err, optional)
	}
	return nil
}

// unsaved returns the error of a run whose last save failed, which is none if the save was optional. A save that was refused, for example
// because of missing permissions, doesn't show whether another process overtook the run. Neither does a request to a different cluster.
func (r *run) unsaved(ctx context.Context, err error, optional bool) error {
	wrong, overtaken := (*inventory.WrongClusterError)(nil), (*inventory.ChangedError)(nil)
	if errors.As(err, &wrong) {
		return err
	}
	if c := r.confirm(ctx); errors.As(c, &overtaken) {
		return c
	}
	if optional {
		return nil
	}
	return err
}

// abandon deletes the records of releases whose move to another name or namespace was never finished. It does so before the
// inventory drops these releases.
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

// reasons returns the reasons why the run did not get further.
func (r *run) reasons() inventory.Reasons {
	p := r.progress
	out := inventory.Reasons{Failed: map[object.PartID]inventory.Failure{}, Held: p.decisions.Held()}
	out.Waiting, _ = p.decisions.Waiting()
	for i := range p.plan.Parts {
		part := &p.plan.Parts[i]
		if failure, failed := p.decisions.Failure(part.Name); failed {
			out.Failed[part.Name] = inventory.Failure{Digest: part.Digest, Message: failure.Reason, Transient: ssa.IsTransient(failure.Err)}
		}
	}
	if r.pruneErr != nil {
		out.Pruning = plan.Why(r.pruneErr)
	}
	return out
}

// summarize returns the result. It sorts the repaired drift, because objects are applied in no particular order.
func (r *run) summarize() Result {
	out := r.result
	out.Waiting, _ = r.progress.decisions.Waiting()
	out.Released = r.progress.released
	out.ChangedCRDs = out.ChangedCRDs || len(out.HandedOver) > 0
	slices.SortFunc(out.Shared, func(a, b SharedCRD) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
	slices.SortFunc(out.Repaired, func(a, b observe.Drift) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// err returns an error that lists all failures in one line, or nil if nothing failed.
func (r *run) err() error {
	var all []failure
	for i := range r.progress.plan.Parts {
		part := &r.progress.plan.Parts[i]
		v, failed := r.progress.decisions.Failure(part.Name)
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
