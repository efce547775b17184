// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A DryInput is the input of DryRun.
type DryInput struct {
	Plan *plan.Plan
	// Applier must not change anything in the cluster.
	Applier     *apply.Applier
	Concurrency int
	// Former returns the objects of an adopted release that neither the component nor the bundle contains.
	Former func(ctx context.Context, c *compose.Component, isMember func(ref cluster.ObjectRef) bool) ([]cluster.ObjectRef, error)
}

// A dryRun is one call of DryRun.
type dryRun struct {
	DryInput

	progress *progress
	out      Plan
}

// DryRun returns what Run would do until nothing is left to do. It returns an error if the cluster cannot be queried.
func DryRun(ctx context.Context, in DryInput) (Plan, error) {
	d := &dryRun{DryInput: in, progress: newProgress(in.Plan)}
	d.progress.intend()
	in.Applier.Assumed.Planned = in.Plan.CRDs()
	for _, s := range object.Stages {
		if err := d.tryStage(ctx, s); err != nil {
			return Plan{}, err
		}
	}
	d.prune(ctx)
	if err := d.pruneFormer(ctx); err != nil {
		return Plan{}, err
	}
	d.conclude()
	return d.out, context.Cause(ctx)
}

// tryStage dry-runs the objects of one stage.
func (d *dryRun) tryStage(ctx context.Context, s object.Stage) error {
	idx := d.progress.inventory.Index()
	for _, c := range d.Plan.Components {
		// No objects are held back, because all hooks will have run.
		todo, later := d.progress.due(c, s, idx, func(*object.Desired) bool { return false })
		for _, o := range later {
			d.out.Changes = append(d.out.Changes, Change{Key: o.Ref, Action: ActionCreate})
		}
		outs, errs := d.progress.send(ctx, d.Applier, d.Concurrency, todo, idx)
		for i, o := range todo {
			if err := d.record(c, o, outs[i], errs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// record records what would happen to an object. It returns an error if the cluster cannot be queried.
func (d *dryRun) record(c *compose.Component, o *object.Desired, out apply.Outcome, err error) error {
	if err != nil {
		return d.problem(c.Name, err)
	}
	change := Change{Key: o.Ref, Fields: out.Fields}
	switch out.Kind {
	case apply.Unchanged:
		return nil
	case apply.Used:
		if en := d.progress.inventory.Find(o.Ref); !en.IsUsed() {
			d.out.Notes = append(d.out.Notes, SharedCRD{Ref: o.Ref, Owner: out.Owner}.String())
		}
		return nil
	case apply.Created, apply.Deleting:
		change.Action = ActionCreate
		d.Applier.Assumed.Created(o)
	case apply.Updated:
		change.Action = ActionUpdate
	case apply.Immutable:
		change.Action = ActionRecreate
	}
	if out.Note != "" {
		d.out.Notes = append(d.out.Notes, out.Note)
	}
	d.out.Changes = append(d.out.Changes, change)
	return nil
}

// problem records that an object of a part is refused. It returns all other errors.
func (d *dryRun) problem(part object.PartID, err error) error {
	if !ssa.IsRefused(err) {
		return err
	}
	d.out.Problems = append(d.out.Problems, part.String()+": "+text.OneLine(err.Error()))
	return nil
}

// prune records the objects that no part would contain after the run, in the order of their deletion. It records no deletions if
// the objects of a part are unknown.
func (d *dryRun) prune(ctx context.Context) {
	d.progress.recordPrunes(d.Plan.Actions)
	if d.Plan.Decisions.IsIncomplete() {
		return
	}
	what := d.progress.doomed()
	entries, parts := make([]*inventory.Entry, 0, len(what.Entries)), make([]object.PartID, 0, len(d.Plan.Parts))
	for i := range what.Entries {
		entries = append(entries, &what.Entries[i])
	}
	for i := range d.Plan.Parts {
		parts = append(parts, d.Plan.Parts[i].Name)
	}
	mapping := func(gvk schema.GroupVersionKind) (cluster.Mapping, error) {
		return d.Applier.Target.Client.Mapping(ctx, gvk)
	}
	for _, ref := range teardown.Preview(entries, what.Objects, d.Applier.Target.ID, parts, mapping) {
		d.out.Changes = append(d.out.Changes, Change{Key: ref, Action: ActionPrune})
	}
}

// pruneFormer records the objects that would be pruned because a release is adopted.
func (d *dryRun) pruneFormer(ctx context.Context) error {
	for _, c := range d.Plan.Components {
		if c.Rendered == nil || c.Purpose == compose.Repair || c.Record.Revision > 0 || d.Plan.Decisions.Of(c.Name).Hindrance.Fails() {
			continue
		}
		refs, err := d.Former(ctx, c, d.progress.isMember)
		for _, ref := range refs {
			d.out.Changes = append(d.out.Changes, Change{Key: ref, Action: ActionPrune})
		}
		if err != nil {
			if err := d.problem(c.Name, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// conclude records the problems of whole parts, and notes that do not refer to objects.
func (d *dryRun) conclude() {
	p := d.Plan
	for i := range p.Parts {
		if failure, failed := p.Decisions.Failure(p.Parts[i].Name); failed {
			d.out.Problems = append(d.out.Problems, p.Parts[i].Name.String()+": "+failure.Reason)
		}
	}
	if reason, waits := p.Decisions.Waiting(); waits {
		d.out.Notes = append(d.out.Notes, reason)
	}
	if p.Decisions.IsIncomplete() {
		d.out.Notes = append(d.out.Notes, "no objects are pruned until all installs can be rendered")
	}
	for _, c := range p.Components {
		n := c.CountHooks()
		switch {
		case n == 0 || p.Decisions.Of(c.Name).Hindrance.Fails():
		case n == 1:
			d.out.Notes = append(d.out.Notes, c.Name.String()+": the chart has 1 hook")
		default:
			d.out.Notes = append(d.out.Notes, fmt.Sprintf("%s: the chart has %d hooks", c.Name, n))
		}
	}
}
