// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// An Engine observes, plans, applies and removes bundles.
type Engine interface {
	ID(b *engine.Bundle) string
	Observe(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Observation, error)
	Exists(ctx context.Context, c cluster.Cluster, b *engine.Bundle) (bool, error)
	Apply(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Result, error)
	Plan(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Plan, error)
	remover
}

// A remover removes bundles, or stops managing them.
type remover interface {
	Remove(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Removal, error)
	Detach(ctx context.Context, c cluster.Cluster, b *engine.Bundle) error
	IsDetached(ctx context.Context, c cluster.Cluster, b *engine.Bundle) (bool, error)
}

// external is the external client of one pass. A pass decides what to install, observes it, applies it, and reports once: in
// Update if the managed reconciler calls it, and otherwise in Observe. Create does not report, because the managed reconciler
// loses the status of the passes that create.
type external struct {
	engine  Engine
	cluster cluster.Cluster
	// subject identifies the Manifest in its cluster. memory contains the state that its last pass stored.
	subject checkpoint.Subject
	memory  *checkpoint.Memory
	// report redacts and records all texts about the content of the Manifest.
	report *reporter
	// verified is the result of the verification of the sources.
	verified *verification
	// again requests another pass.
	again func()
	// after requests another pass after a delay.
	after func(time.Duration)
	// watcher reports what the pass observes. It is nil if there is no cluster.
	watcher *requeue.Watcher
	// removeFromBundle stops changes of the bundle from causing passes. It is nil if there is no cluster.
	removeFromBundle func()
	// misplaced records whether the Manifest is installed in another cluster. It is nil if removeFromBundle is.
	misplaced func(yes bool)
	// sharer makes changes of shared CRDs cause passes. It is nil if there is no cluster.
	sharer *requeue.Sharer
	// decider decides what to install. It is nil for a Manifest that is being deleted.
	decider *decider
	// choice is the decision of Observe; before Observe it is the content of the Manifest.
	choice choice
	// observed is the observation of Observe.
	observed engine.Observation
	// firstUpdate is set if Update can perform the first install; see settings.IsFirstUpdate.
	firstUpdate bool
	// repaired records that a step repaired drift of objects. It is nil if no one needs to know.
	repaired func(mr *v1alpha1.Manifest, objects int, took time.Duration)
	// first is set by Observe if the managed reconciler adds the finalizer before Update performs the first install.
	first bool
}

// Observe observes what the pass installs. It writes nothing to the target cluster.
func (e *external) Observe(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mr) {
		return e.observeRemoval(ctx, mr)
	}
	e.report.verification(mr, e.verified)
	if planOnly(mr) {
		return e.observePlan(ctx, mr)
	}
	if err := e.observe(ctx, mr); err != nil {
		if e.choice.bringsBack() {
			e.choice.report.rollback(mr, e.choice.decision.Status)
		}
		return managed.ExternalObservation{}, e.choice.report.wait(ctx, mr, e.after, err)
	}
	o := &e.observed
	if out, isFirst := e.observeFirst(mr); isFirst {
		return out, nil
	}
	switch {
	case o.UpToDate:
		e.conclude(mr, *o, outcomeOf(o, false))
	case !isUpdatedNext(mr, o):
		e.conclude(mr, *o, rollback.Pending)
	}
	return managed.ExternalObservation{ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, Diff: e.choice.report.diff(*o)}, nil
}

// observeFirst returns the observation of a bundle whose first install needs another call than the managed reconciler would make, or
// false. The policies can forbid the install, and which of Create and Update performs it.
func (e *external) observeFirst(mr *v1alpha1.Manifest) (out managed.ExternalObservation, ok bool) {
	o, update := &e.observed, allows(mr, xpv2.ManagementActionUpdate)
	switch {
	case !o.Exists && !allows(mr, xpv2.ManagementActionCreate):
		// Otherwise, the managed reconciler would call Update, which would create it.
		o.Message = "not installed, because spec.managementPolicies does not contain Create"
		e.conclude(mr, *o, rollback.Pending)
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, true
	case o.Installing && !o.UpToDate && !update:
		// A first install takes several steps, which only Create is allowed to perform.
		e.conclude(mr, *o, rollback.Pending)
		return managed.ExternalObservation{Diff: e.choice.report.diff(*o)}, true
	case !o.Exists && e.firstUpdate && settings.IsFirstUpdate(mr, e.choice.bundle.Name, true, update):
		// The managed reconciler writes the name with the finalizer, and then calls Update.
		meta.SetExternalName(mr, e.choice.bundle.Name)
		e.first = !meta.FinalizerExists(mr, managed.FinalizerName)
		return managed.ExternalObservation{ResourceExists: true, Diff: e.choice.report.diff(*o)}, true
	}
	return managed.ExternalObservation{}, false
}

// isUpdatedNext reports whether the managed reconciler calls Update after an observation that is not up to date.
func isUpdatedNext(mr *v1alpha1.Manifest, o *engine.Observation) bool {
	return allows(mr, xpv2.ManagementActionUpdate) && (o.Exists || !allows(mr, xpv2.ManagementActionCreate))
}

// observe observes the choice of the decider, which depends on the checkpoint that the last pass remembered. If the inventory
// has another checkpoint, as after a restart, the decider decides again, and observe observes a different choice too. A pass
// that fails remembers nothing, so that the next one reads the inventory first.
func (e *external) observe(ctx context.Context, mr *v1alpha1.Manifest) error {
	remembered := e.memory.Take(e.subject)
	c, err := e.decider.decide(mr, remembered)
	if err != nil {
		return err
	}
	if err := e.observeChoice(ctx, mr, c); err != nil {
		return err
	}
	if found := checkpoint.In(&e.observed); !found.Equal(remembered) {
		again, err := e.decider.decide(mr, found)
		switch {
		case err != nil:
			return err
		case again.same(&c):
			again.bundle = e.choice.bundle
			e.choice = again
		default:
			if err := e.observeChoice(ctx, mr, again); err != nil {
				return err
			}
		}
	}
	e.remember(&e.observed)
	return nil
}

// observeChoice observes a choice, which later calls then use. If the choice is a snapshot, it builds the bundle first.
func (e *external) observeChoice(ctx context.Context, mr *v1alpha1.Manifest, c choice) (err error) {
	e.choice = c
	if c.bringsBack() {
		if e.choice.bundle, err = e.decider.restore(ctx, c.last.Restored(mr)); err != nil {
			return errors.Wrap(err, "cannot roll back")
		}
	}
	e.observed, err = e.observeBundle(ctx, mr)
	e.reportOwner(err)
	return err
}

// observeBundle observes the bundle of the choice.
func (e *external) observeBundle(ctx context.Context, mr *v1alpha1.Manifest) (engine.Observation, error) {
	e.watcher.Observing()
	return e.engine.Observe(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
}

// reportOwner stops changes of the bundle from causing passes if the bundle belongs to another owner, and records whether this is the wrong cluster.
func (e *external) reportOwner(err error) {
	if wrong := isWrongCluster(err); e.misplaced != nil && (wrong || err == nil) {
		e.misplaced(wrong)
	}
	if other := (*engine.OwnedError)(nil); errors.As(err, &other) && e.removeFromBundle != nil {
		e.removeFromBundle()
	}
}

// remember stores what the next pass needs before it observes: the checkpoint, with its snapshot while an upgrade is being
// watched or rolled back.
func (e *external) remember(o *engine.Observation) {
	cp := checkpoint.In(o)
	if e.choice.decision.Status == nil {
		cp.Data = nil
	}
	e.memory.Set(e.subject, cp)
}

// conclude ends a pass: it evaluates the progress of an upgrade, and reports. An upgrade that does not work in time is rolled
// back in the next pass, once the status is written.
func (e *external) conclude(mr *v1alpha1.Manifest, o engine.Observation, outcome rollback.Outcome) {
	e.sharer.Share(o.SharesCRDs)
	c := &e.choice
	next, begins := c.evaluate(&o, outcome, e.decider.now())
	c.report.rollback(mr, next)
	if begins {
		c.report.recordRollback(mr, next)
		e.again()
	}
	if c.bringsBack() {
		o = broughtBack(mr, next, o)
	}
	mr.Status.AtProvider.Plan = nil
	c.report.recordDrift(mr, c.bundle.Drift, o.Drift)
	c.report.observation(mr, o)
	if o.UpToDate && o.State == engine.Ready && !testsRun(mr) {
		e.watcher.Complete()
	}
}

// Create creates the bundle. The status that Create sets would be lost, so it requests another pass immediately.
func (e *external) Create(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalCreation, error) {
	meta.SetExternalName(mr, e.choice.bundle.Name)
	defer e.again()
	r, err := e.engine.Apply(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	e.choice.report.recordApply(mr, r)
	e.sharer.Changed(r.ChangedCRDs)
	return managed.ExternalCreation{}, e.choice.report.error(flatten(err))
}

// Update updates the bundle and reports its new state or, if that cannot be observed, the observation of Observe. It is not an
// error if only a new kind is still being listed, because another pass follows.
func (e *external) Update(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalUpdate, error) {
	report := e.choice.report
	if e.first {
		// Observe has recorded no event about the signatures, and the managed reconciler may have lost the condition since.
		unmark(mr, v1alpha1.TypeVerified)
		e.report.verification(mr, e.verified)
	}
	r, err := e.apply(ctx, mr)
	o, oerr := e.observeBundle(ctx, mr)
	if err == nil && oerr == nil {
		o, err, oerr = e.keep(ctx, mr, o)
	}
	if oerr != nil {
		e.conclude(mr, e.observed, rollback.Pending)
		if quietly(e.after, oerr) != nil {
			return managed.ExternalUpdate{}, report.error(flatten(err))
		}
		return managed.ExternalUpdate{}, errors.Join(report.error(flatten(err)), report.failure(mr, oerr))
	}
	e.remember(&o)
	report.recordNotKept(mr, r, o)
	outcome := outcomeOf(&o, r.Created+r.Updated > 0)
	e.await(mr, &o, err)
	e.conclude(mr, o, outcome)
	return managed.ExternalUpdate{}, report.error(flatten(err))
}

// storeAgain is the delay until the data for a rollback is stored if that was not possible.
const storeAgain = 5 * time.Second

// await changes the observation of a bundle that becomes Ready while the data for its rollback cannot be stored because of an error. If
// there was no error, the bundle was not Ready for a moment, and await requests another pass.
func (e *external) await(mr *v1alpha1.Manifest, o *engine.Observation, err error) {
	switch {
	case outcomeOf(o, false) != rollback.Ready || !e.choice.lacks(o):
	case err == nil && e.after != nil:
		e.after(storeAgain)
	case err != nil && mr.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue:
		o.State, o.Works, o.Message = engine.Processing, false, "works, but is not Ready until the data for a rollback is stored"
	}
}

// apply executes a step.
func (e *external) apply(ctx context.Context, mr *v1alpha1.Manifest) (engine.Result, error) {
	begin := time.Now()
	r, err := e.engine.Apply(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	e.choice.report.recordApply(mr, r)
	if n := len(r.Repaired); n > 0 && e.repaired != nil {
		e.repaired(mr, n, time.Since(begin))
	}
	e.sharer.Changed(r.ChangedCRDs)
	return r, err
}

// keep keeps a bundle that works after a step, so that an upgrade can be rolled back as soon as the status says Ready. The engine keeps
// only what works before a step, so this takes another step. If no one requested rollbacks before, the installs may do so now.
func (e *external) keep(ctx context.Context, mr *v1alpha1.Manifest, o engine.Observation) (out engine.Observation, err, oerr error) {
	if outcomeOf(&o, false) != rollback.Ready {
		return o, nil, nil
	}
	if e.choice.decision.Policy == nil && o.Atomic > 0 {
		c, err := e.decider.decide(mr, checkpoint.State{Atomic: o.Atomic})
		if err != nil {
			return o, err, nil
		}
		e.choice = c
	}
	if !e.choice.lacks(&o) {
		return o, nil, nil
	}
	_, err = e.apply(ctx, mr)
	o, oerr = e.observeBundle(ctx, mr)
	return o, err, oerr
}

// flatten returns the error of Apply as plain text if the error of a part is a conflict, and unchanged otherwise. The managed
// reconciler would treat a conflict in the target cluster as a conflict of the Manifest, and not report it.
func flatten(err error) error {
	var parts interface{ Unwrap() []error }
	if kerrors.IsConflict(err) && errors.As(err, &parts) {
		return errors.New(err.Error())
	}
	return err
}

// Disconnect does nothing, because connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }
