// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fixed"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// An Action is what would be done to one object.
type Action string

// The actions of a Plan.
const (
	ActionCreate   Action = "Create"
	ActionChange   Action = "Change"
	ActionRecreate Action = "Recreate"
	ActionPrune    Action = "Prune"
)

// A PlannedChange is what would be done to one object.
type PlannedChange struct {
	Key    cluster.ObjectRef
	Action Action
	// Fields that would change, as paths. Values are never part of it.
	Fields []string
}

// A Plan is what Apply would do, until nothing is left to do.
type Plan struct {
	// Changes in the order in which they would be made.
	Changes []PlannedChange
	// Problems say what cannot be planned, or would be refused, a line each, with the name of the part in front.
	Problems []string
	// Notes say what else there is to know: namespaces that would be created, hooks that would run.
	Notes []string
}

// Empty says that Apply would change nothing, and that nothing is in its way.
func (p *Plan) Empty() bool {
	return len(p.Changes) == 0 && len(p.Problems) == 0
}

// Plan what Apply would do, by dry runs in the cluster. Nothing is changed there, and nothing is written down. Objects
// that nothing has to be done about cost no request; for each other one there is one dry run, and where it exists it is
// read. An object whose namespace or kind is part of the plan cannot be tried, and counts as created.
//
// With WithPlanAge a plan is kept that long while inputs, inventory and what watches tell stay the same. The error is that
// the cluster cannot be asked, or that the set is wrong as a whole.
func (e *Engine) Plan(ctx context.Context, c cluster.Cluster, s *Set) (Plan, error) {
	w, err := e.work(ctx, c, s)
	if err != nil {
		return Plan{}, err
	}
	defer w.end()
	was, err := w.load(ctx, false)
	if err != nil {
		return Plan{}, err
	}
	st, err := w.begin(ctx, was)
	if err != nil {
		return Plan{}, err
	}
	fp := st.fingerprint(was)
	if k := w.mem.plan; k != nil && k.fingerprint == fp && w.e.now().Before(k.until) {
		return k.plan, nil
	}
	d := &dryRunner{step: st, definitions: map[string]bool{}, absent: map[string]bool{}}
	p, err := d.plan(ctx)
	if err != nil {
		return Plan{}, err
	}
	w.mem.plan = &keptPlan{fingerprint: fp, until: w.e.now().Add(e.keepFor(&p)), plan: p}
	return p, nil
}

// A keptPlan is one that holds as long as its fingerprint does, up to a time.
type keptPlan struct {
	fingerprint string
	until       time.Time
	plan        Plan
}

// problemAge is how long a plan with problems is kept at most: what is in the way may be out of sight of the watches.
const problemAge = time.Minute

func (e *Engine) keepFor(p *Plan) time.Duration {
	if len(p.Problems) > 0 {
		return min(problemAge, e.planAge)
	}
	return e.planAge
}

// A dryRunner goes through a step without doing it.
type dryRunner struct {
	*step

	out Plan
	// definitions that the plan creates, by name: their kinds are not served yet.
	definitions map[string]bool

	missing sync.Mutex // Guards absent.
	// absent are namespaces that do not exist yet.
	absent map[string]bool
}

// plan goes through the step in the order in which it would be done.
func (d *dryRunner) plan(ctx context.Context) (Plan, error) {
	d.planAll(ctx)
	d.settle()
	d.preflight(ctx)
	d.intend()
	for _, s := range object.Stages {
		if err := d.tryStage(ctx, s); err != nil {
			return Plan{}, err
		}
	}
	d.prune()
	if err := d.pruneFormers(ctx); err != nil {
		return Plan{}, err
	}
	d.failSpared()
	for i := range d.parts {
		name := d.parts[i].name
		if err := d.errs[name]; err != nil {
			d.problem(name, err)
		}
	}
	if d.result.Waiting != "" {
		d.out.Notes = append(d.out.Notes, d.result.Waiting)
	}
	if d.unplanned {
		d.out.Notes = append(d.out.Notes, "nothing is pruned until all installs can be rendered")
	}
	d.note()
	return d.out, context.Cause(ctx)
}

func (d *dryRunner) problem(partName string, err error) {
	d.out.Problems = append(d.out.Problems, title(partName)+": "+text.OneLine(err.Error()))
}

// A trial is what became of the dry run of one object.
type trial struct {
	action Action // Empty for nothing to do.
	fields []string
	note   string
	err    error
}

// tryStage tries the objects of one stage that would be sent.
func (d *dryRunner) tryStage(ctx context.Context, s object.Stage) error {
	idx := d.inv.Index()
	for _, pl := range d.plans {
		var todo []*object.Desired
		for i := range pl.objects {
			if o := &pl.objects[i]; o.Stage == s && d.needed(o, idx[o.Ref]) {
				todo = append(todo, o)
			}
		}
		trials := make([]trial, len(todo))
		g := errgroup.Group{}
		g.SetLimit(d.e.concurrency)
		for i, o := range todo {
			g.Go(func() error {
				trials[i] = d.try(ctx, o, idx[o.Ref])
				return nil
			})
		}
		_ = g.Wait() // Errors belong to the part.
		for i, o := range todo {
			if err := d.took(pl, o, trials[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// took the result of one object. An error is returned where the cluster cannot be asked at all.
func (d *dryRunner) took(pl *planned, o *object.Desired, t trial) error {
	if t.err != nil {
		if !answered(t.err) {
			return t.err
		}
		d.problem(pl.name, t.err)
		return nil
	}
	if t.action == "" {
		return nil
	}
	if t.note != "" {
		d.out.Notes = append(d.out.Notes, t.note)
	}
	if t.action == ActionCreate {
		switch o.Stage {
		case object.StageCRDs:
			d.definitions[o.Ref.Name] = true
		case object.StageNamespaces:
			d.absent[o.Ref.Name] = true
		default:
		}
	}
	d.out.Changes = append(d.out.Changes, PlannedChange{Key: o.Ref, Action: t.action, Fields: t.fields})
	return nil
}

// A refusedError is one that is about the object, not about the connection.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// answered says whether the API server has an objection to one object, and not to being asked.
func answered(err error) bool {
	if r := (*refusedError)(nil); errors.As(err, &r) {
		return true
	}
	if ssa.IsNoKind(err) {
		return true
	}
	s := kerrors.APIStatus(nil)
	return errors.As(err, &s) && !kerrors.IsUnauthorized(err) && !kerrors.IsTooManyRequests(err) &&
		!kerrors.IsServiceUnavailable(err) && !kerrors.IsTimeout(err) && !kerrors.IsServerTimeout(err)
}

// try one object, as applyOne would apply it.
func (d *dryRunner) try(ctx context.Context, o *object.Desired, en *inventory.Entry) trial {
	_, exists := d.see(o.Ref)
	switch {
	case o.Stage == object.StageResource && en.UID != "" && !exists:
		// Its users deleted it, and do not want it back.
		return trial{}
	case d.definitions[o.CRD] || d.isAbsent(o.Ref.Namespace):
		return trial{action: ActionCreate}
	case exists:
		return d.tryChange(ctx, o, en)
	}
	_, err := d.DryRunDifferences(ctx, o, nil)
	switch {
	case err == nil:
		return trial{action: ActionCreate}
	case kerrors.IsConflict(err):
		return d.tryChange(ctx, o, en)
	case ssa.IsNamespaceMissing(err, o.Ref.Namespace):
		return d.tryWithout(o)
	}
	return d.refused(ctx, o, ActionCreate, err)
}

func (d *dryRunner) isAbsent(namespace string) bool {
	d.missing.Lock()
	defer d.missing.Unlock()
	return namespace != "" && d.absent[namespace]
}

// tryWithout a namespace, which would be created with the first object in it.
func (d *dryRunner) tryWithout(o *object.Desired) trial {
	ns := o.Ref.Namespace
	if o.KeepNamespaces {
		return trial{err: &refusedError{errors.Errorf("%s: namespace %s does not exist, and config says CreateNamespace=false; create it", o.Ref, ns)}}
	}
	d.missing.Lock()
	defer d.missing.Unlock()
	t := trial{action: ActionCreate}
	if !d.absent[ns] {
		d.absent[ns] = true
		t.note = "namespace " + ns + " would be created"
	}
	return t
}

// tryChange of an object that exists.
func (d *dryRunner) tryChange(ctx context.Context, o *object.Desired, en *inventory.Entry) trial {
	live, err := d.Get(ctx, o.GVK(), o.Ref)
	if err != nil {
		return trial{err: err}
	}
	if live == nil || live.GetDeletionTimestamp() != nil {
		return trial{action: ActionCreate}
	}
	if err := d.mayChange(ctx, o, en, metadataOf(live)); err != nil {
		return trial{err: &refusedError{errors.Wrap(err, o.Ref.String())}}
	}
	out, yields, err := d.withoutCeded(ctx, o, en, live.GetManagedFields())
	if err != nil {
		return trial{err: &refusedError{err}}
	}
	fields, err := d.DryRunDifferences(ctx, out, live)
	if kerrors.IsInvalid(err) {
		fields, err = d.dryRunCleared(ctx, out, live, err)
	}
	if err != nil {
		return d.refused(ctx, o, ActionChange, err)
	}
	if len(fields) == 0 && (!d.drift[o.Ref] || len(yields) > 0) {
		// Written differently, it means the same.
		return trial{}
	}
	return trial{action: ActionChange, fields: fields}
}

func metadataOf(u *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
		ManagedFields: u.GetManagedFields(),
	}}
}

// refused says what a refusal of a dry run means for the action that was tried.
func (d *dryRunner) refused(ctx context.Context, o *object.Desired, a Action, err error) trial {
	fields := fixed.Fields(err)
	switch {
	case a == ActionChange && len(fields) > 0 && d.mayRecreate(o):
		return trial{action: ActionRecreate, fields: fieldNames(fields)}
	case a == ActionChange && len(fields) > 0:
		return trial{err: &refusedError{d.unchangeable(ctx, o, fields)}}
	case untried(err):
		return trial{action: a, note: o.Ref.String() + " cannot be tried: " + text.OneLine(ssa.Explain(err).Error())}
	case ssa.IsNotServed(err) && d.defines(o):
		return trial{action: a, note: o.Ref.String() + " cannot be tried: its kind is not served in this version yet"}
	}
	return trial{err: errors.Wrap(ssa.Explain(err), o.Ref.String())}
}

// defines says whether the definition of an object's kind is part of the plan.
func (d *dryRunner) defines(o *object.Desired) bool {
	return slices.ContainsFunc(d.plans, func(pl *planned) bool {
		return slices.ContainsFunc(pl.objects, func(p object.Desired) bool {
			return p.Stage == object.StageCRDs && p.Ref.Name == o.CRD
		})
	})
}

// prune finds the objects that no part would want any more, the last stage first.
func (d *dryRunner) prune() {
	d.releaseResource()
	if d.unplanned {
		return
	}
	for _, pl := range d.plans {
		d.giveUp(pl)
	}
	unwanted, _ := d.unwanted()
	for _, s := range slices.Backward(object.Stages) {
		for _, en := range unwanted {
			if en.Stage == s && d.prunes(en) {
				d.out.Changes = append(d.out.Changes, PlannedChange{Key: en.Ref(), Action: ActionPrune})
			}
		}
	}
}

// prunes says whether an object that is not wanted exists, is ours, and would be deleted.
func (d *dryRunner) prunes(en *inventory.Entry) bool {
	sum, exists := d.known[en.Ref()]
	return exists && !en.Keep && !sum.Keep && sum.Set == d.id && sum.Status != cluster.Terminating
}

// note what is no object of the set.
func (d *dryRunner) note() {
	for _, pl := range d.plans {
		if n := d.step.hooksToRun(pl); n > 0 && d.errs[pl.name] == nil {
			d.out.Notes = append(d.out.Notes, fmt.Sprintf("%s: the chart has %d %s", pl.title(), n,
				map[bool]string{true: "hook", false: "hooks"}[n == 1]))
		}
	}
}
