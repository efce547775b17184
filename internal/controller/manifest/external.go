// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// An Engine works on bundles.
type Engine interface {
	ID(b *engine.Bundle) string
	Observe(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Observation, error)
	Exists(ctx context.Context, c cluster.Cluster, b *engine.Bundle) (bool, error)
	Apply(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Result, error)
	Plan(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Plan, error)
	Remove(ctx context.Context, c cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Removal, error)
}

// external is the external client of one pass.
type external struct {
	engine  Engine
	cluster cluster.Cluster
	// report is the exit for texts about what the Manifest says.
	report *reporter
	// again asks for another pass.
	again func()
	// decider is nil for a Manifest that is being deleted.
	decider *decider
	// choice is what Connect, and then Observe, chose for the calls that follow.
	choice choice
}

// Observe what the pass is to install. It writes nothing to the target cluster.
func (e *external) Observe(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	switch {
	case meta.WasDeleted(mr):
		return e.observeRemoval(ctx, mr)
	case planOnly(mr):
		return e.observePlan(ctx, mr)
	}
	o, err := e.observe(ctx, mr)
	if err != nil {
		return managed.ExternalObservation{}, e.choice.report.failure(mr, transport.Explain(err))
	}
	o = e.evaluate(mr, o, rollback.Observed{Outdated: !o.UpToDate})
	mr.Status.AtProvider.Plan = nil
	e.choice.report.recordDrift(mr, e.choice.bundle.Drift, o.Drift)
	e.choice.report.observation(mr, o)
	return managed.ExternalObservation{ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, Diff: e.choice.report.diff(o)}, nil
}

// observe what the decider chooses, by the status and by what the last pass learned from the inventory. If the inventory
// says something else, as it does after a restart, the decider chooses once more. A pass that fails remembers nothing, so
// the next one reads the inventory first.
func (e *external) observe(ctx context.Context, mr *v1alpha1.Manifest) (engine.Observation, error) {
	o, err := e.observeBy(ctx, mr, e.decider.take())
	if err != nil {
		return o, err
	}
	next, err := e.decider.choose(mr, e.report, checkpointIn(o))
	if err != nil {
		return o, err
	}
	if next.same(e.choice) {
		next.bundle = e.choice.bundle
		e.choice = next
	} else if o, err = e.observeBy(ctx, mr, checkpointIn(o)); err != nil {
		return o, err
	}
	e.decider.learn(e.choice, o)
	return o, nil
}

// observeBy chooses by a checkpoint, and observes the choice.
func (e *external) observeBy(ctx context.Context, mr *v1alpha1.Manifest, cp checkpoint) (engine.Observation, error) {
	c, err := e.decider.choose(mr, e.report, cp)
	if err != nil {
		return engine.Observation{}, err
	}
	e.choice = c
	if c.Action == rollback.BringBack {
		c.report.rollback(mr, c.Status)
		if e.choice.bundle, err = e.decider.bringBack(ctx, mr, c); err != nil {
			return engine.Observation{}, errors.Wrap(err, "cannot roll back")
		}
	}
	return e.engine.Observe(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
}

// Create the bundle. What Create sets in the status would be lost, so it asks for another pass at once.
func (e *external) Create(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalCreation, error) {
	meta.SetExternalName(mr, e.choice.bundle.Name)
	defer e.again()
	r, err := e.engine.Apply(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	e.choice.report.recordApply(mr, r)
	return managed.ExternalCreation{}, e.choice.report.error(flatten(err))
}

// Update the bundle, and report what it has become.
func (e *external) Update(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalUpdate, error) {
	report := e.choice.report
	r, err := e.engine.Apply(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	report.recordApply(mr, r)
	o, oerr := e.engine.Observe(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	if oerr != nil {
		return managed.ExternalUpdate{}, errors.Join(report.error(flatten(err)), report.failure(mr, oerr))
	}
	e.decider.learn(e.choice, o)
	report.recordNotKept(mr, r, o)
	o = e.evaluate(mr, o, rollback.Observed{Changed: r.Created+r.Updated > 0})
	report.recordDrift(mr, e.choice.bundle.Drift, o.Drift)
	report.observation(mr, o)
	return managed.ExternalUpdate{}, report.error(flatten(err))
}

// flatten returns the error of Apply without the kinds of the errors of single parts, if one is a conflict: the managed reconciler would
// take a conflict in the cluster for one of the Manifest, and not report it.
func flatten(err error) error {
	var parts interface{ Unwrap() []error }
	if kerrors.IsConflict(err) && errors.As(err, &parts) {
		return errors.New(err.Error())
	}
	return err
}

// Disconnect has nothing to do: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }
