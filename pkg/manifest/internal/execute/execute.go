// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A Result says what a call did.
type Result struct {
	// Created and Changed count objects.
	Created, Changed int
	// Pruned are the objects that are gone because the bundle no longer has them.
	Pruned []cluster.ObjectRef
	// Kept are the objects that the bundle no longer has and that were orphaned instead of deleted, as their annotation
	// helm.sh/resource-policy asks for, and those that they cannot be without.
	Kept []cluster.ObjectRef
	// LeftBehind are the objects that the bundle no longer has, and that are not those that were applied. They stay as they are.
	LeftBehind []cluster.ObjectRef
	// Recreated are the objects that were deleted to be created again, as a field of them cannot be changed.
	Recreated []cluster.ObjectRef
	// Repaired is the drift that was repaired, with its fields.
	Repaired []observe.Drift
	// Yielded are fields that from now on are ceded to others, which set them.
	Yielded []observe.Yield
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

// Installs are the Helm releases of the components.
type Installs interface {
	// RunPre and RunPost run the hooks of a component before and after its objects are applied, as far as they go. They return what the
	// hooks wait for; empty once they are over. RunPre returns the run, too, which RunPost continues.
	RunPre(ctx context.Context, c *compose.Component) (run *inventory.Run, waiting string, err error)
	RunPost(ctx context.Context, c *compose.Component, run *inventory.Run) (waiting string, err error)
	// Finish a component whose objects are all applied and whose hooks have run, nil for none. It changes the record that the inventory
	// has of it.
	Finish(ctx context.Context, c *compose.Component, run *inventory.Run, rec *inventory.Part) (Installed, error)
	// Abandon deletes the records of a release that never arrived where it was to move to.
	Abandon(ctx context.Context, c *compose.Component) error
}

// Installed is what Installs.Finish did.
type Installed struct {
	// Name of what was installed.
	Name string
	// Hooks counts the hooks that ran.
	Hooks int
	// Pruned are objects that an adopted release had and the component lacks.
	Pruned []cluster.ObjectRef
}

// A Pruner deletes what a bundle no longer has.
type Pruner interface {
	// Prune deletes objects, and runs the hooks of the installs that leave. It goes as far as possible without waiting.
	Prune(ctx context.Context, p Prune) (teardown.Result, error)
	// Forget deletes the records of the releases of a part.
	Forget(ctx context.Context, part object.PartID, rec inventory.Part) error
}

// An Inventory is where the inventory is stored.
type Inventory interface {
	// Save the inventory. With create there must be none.
	Save(ctx context.Context, inv *inventory.Inventory, create bool) error
	// Conclude notes why the call went no further, before the inventory is saved for the last time. The context is that of the call.
	Conclude(ctx context.Context, inv *inventory.Inventory, why inventory.Reasons)
	// IsSaved reports whether an inventory is as it was saved last.
	IsSaved(inv *inventory.Inventory) bool
}

// An Input is what a run needs.
type Input struct {
	// Progress of the plan, as Begin returns it.
	Progress *Progress
	Applier  *apply.Applier
	// Concurrency is how many objects are applied at the same time.
	Concurrency int
	Inventory   Inventory
	// Create is true where there is no inventory. Write saves it first in any case.
	Create, Write bool
	Installs      Installs
	Pruner        Pruner
	// Latest returns what is known of an object by now.
	Latest func(ref cluster.ObjectRef) (cluster.ObjectState, bool)
	// Unready returns the first object of an install that is not ready, and why; empty where all are.
	Unready func(ctx context.Context, install object.PartID) (string, error)
	// Test runs the tests that were requested, as far as they go, and returns what they wait for; nil for none.
	Test       func(ctx context.Context) (waiting string, err error)
	Contention *ownership.Contention
	Now        func() time.Time
}

// A run is one call of Run.
type run struct {
	Input

	result Result
	// pruneErr and testErr are errors that belong to no part.
	pruneErr, testErr error
}

// saveTimeout is for the last save of a run, which is made even if the time of the call is over: without it, everything would have
// to be applied again.
const saveTimeout = 10 * time.Second

// Run a plan. The error is that the inventory cannot be saved, or else what failed, in one line.
func Run(ctx context.Context, in Input) (Result, error) {
	r := &run{Input: in}
	err := r.do(ctx)
	if err == nil {
		err = r.err()
	}
	return r.conclude(), err
}

func (r *run) do(ctx context.Context) error {
	p := r.Progress
	r.abandon(ctx)
	save := p.intend() || r.Write
	for ref := range p.restarted {
		r.Contention.Forget(ref)
	}
	if save {
		if err := r.Inventory.Save(ctx, p.Inventory, r.Create); err != nil {
			return err
		}
	}
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
	r.Inventory.Conclude(ctx, p.Inventory, r.reasons())
	if r.Inventory.IsSaved(p.Inventory) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return r.Inventory.Save(ctx, p.Inventory, false)
}

// abandon the releases that never arrived where they were to move to, before the inventory forgets them.
func (r *run) abandon(ctx context.Context) {
	for _, c := range slices.Clone(r.Progress.components) {
		if c.Next.Abandoned.IsZero() {
			continue
		}
		if err := r.Installs.Abandon(ctx, c); err != nil {
			r.Progress.drop(c, err)
		}
	}
}

// reasons returns why a run went no further.
func (r *run) reasons() inventory.Reasons {
	p := r.Progress
	out := inventory.Reasons{Failed: map[object.PartID]inventory.Failure{}, Held: p.verdicts.Held(), Waiting: p.verdicts.Waiting()}
	for i := range p.plan.Parts {
		part := &p.plan.Parts[i]
		if failure, failed := p.verdicts.Failure(part.Name); failed {
			out.Failed[part.Name] = inventory.Failure{Digest: part.Digest, Message: failure.Reason}
		}
	}
	if r.pruneErr != nil {
		out.Waiting = plan.Why(r.pruneErr)
	}
	return out
}

// conclude returns the result. Objects are applied in no order, so that what was repaired is sorted.
func (r *run) conclude() Result {
	out := r.result
	out.Waiting = r.Progress.verdicts.Waiting()
	slices.SortFunc(out.Repaired, func(a, b observe.Drift) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// err returns what failed in one line; nil for nothing.
func (r *run) err() error {
	var all []failure
	for i := range r.Progress.plan.Parts {
		part := &r.Progress.plan.Parts[i]
		if v, failed := r.Progress.verdicts.Failure(part.Name); failed {
			all = append(all, failure{title: part.Title(), message: v.Reason})
		}
	}
	if r.pruneErr != nil {
		all = append(all, failure{title: "pruning", message: plan.Why(r.pruneErr)})
	}
	if r.testErr != nil {
		all = append(all, failure{title: "tests", message: plan.Why(r.testErr)})
	}
	return join(all)
}

// A failure of a part, or of what belongs to no part.
type failure struct{ title, message string }

// mostFailures is how many failures are told of at once.
const mostFailures = 3

// join returns failures as one error, sorted by their titles; nil for none.
func join(all []failure) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b failure) int { return strings.Compare(a.title, b.title) })
	var lines []string
	for _, f := range all {
		lines = append(lines, f.title+": "+f.message)
	}
	if len(lines) > mostFailures {
		lines = append(lines[:mostFailures], "…")
	}
	return errors.New(strings.Join(lines, "; "))
}
