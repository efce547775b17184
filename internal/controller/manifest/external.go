// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Reasons of events.
const (
	reasonInstalled     event.Reason = "Installed"
	reasonDriftRepaired event.Reason = "DriftRepaired"
	reasonPruned        event.Reason = "Pruned"
	reasonHooksSkipped  event.Reason = "HooksSkipped"
	reasonRemoval       event.Reason = "RemovalBlocked"
	reasonNotVerified   event.Reason = "NotVerified"
	reasonAbandoned     event.Reason = "Abandoned"
)

// An Engine works on sets.
type Engine interface {
	ID(s *engine.Set) string
	Observe(ctx context.Context, c engine.Cluster, s *engine.Set) (engine.Observation, error)
	Exists(ctx context.Context, c engine.Cluster, s *engine.Set) (bool, error)
	Apply(ctx context.Context, c engine.Cluster, s *engine.Set) (engine.Result, error)
	Remove(ctx context.Context, c engine.Cluster, s *engine.Set) (engine.Removal, error)
}

// external is what one pass of the reconciler works with.
type external struct {
	engine  Engine
	cluster engine.Cluster
	set     *engine.Set
	record  event.Recorder
	again   func()
}

// Observe the set. It writes nothing to the target cluster.
func (e *external) Observe(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mr) {
		// The finalizer hangs on the answer, so that the cluster itself is asked.
		exists, err := e.engine.Exists(ctx, e.cluster, e.set)
		if err == nil {
			reportDeletion(mr, nil)
			return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: true}, nil
		}
		reportBlocked(mr, err, unreachable(err))
		if unreachable(err) && abandoned(mr, err, e.record) {
			return managed.ExternalObservation{}, nil
		}
		return managed.ExternalObservation{}, transport.Explain(err)
	}
	o, err := e.engine.Observe(ctx, e.cluster, e.set)
	if err = transport.Explain(err); err != nil {
		reportError(mr, err)
		return managed.ExternalObservation{}, err
	}
	report(mr, o)
	return managed.ExternalObservation{ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, Diff: diff(o)}, nil
}

func diff(o engine.Observation) string {
	lines := make([]string, 0, len(o.Drift))
	for _, d := range o.Drift {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "; ")
}

// Create the set. What it says in the status would be lost, so that it asks for another look at once.
func (e *external) Create(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalCreation, error) {
	meta.SetExternalName(mr, e.set.Name)
	defer e.again()
	r, err := e.engine.Apply(ctx, e.cluster, e.set)
	e.tell(mr, r)
	return managed.ExternalCreation{}, err
}

// Update the set, and say what it has become.
func (e *external) Update(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalUpdate, error) {
	r, err := e.engine.Apply(ctx, e.cluster, e.set)
	e.tell(mr, r)
	if len(r.Repaired) > 0 {
		mr.Status.AtProvider.LastDrift = drifts(r.Repaired)
	}
	o, oerr := e.engine.Observe(ctx, e.cluster, e.set)
	if oerr != nil {
		reportError(mr, oerr)
		return managed.ExternalUpdate{}, errors.Join(err, oerr)
	}
	report(mr, o)
	return managed.ExternalUpdate{}, err
}

// Delete does the next step of the removal.
func (e *external) Delete(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalDelete, error) {
	r, err := e.engine.Remove(ctx, e.cluster, e.set)
	if err != nil {
		reportBlocked(mr, err, unreachable(err))
		return managed.ExternalDelete{}, transport.Explain(err)
	}
	if r.Gone {
		e.again()
		return managed.ExternalDelete{}, nil
	}
	at := &mr.Status.AtProvider
	if r.State == engine.Warning && at.Message != r.Message {
		e.record.Event(mr, event.Warning(reasonRemoval, errors.New(r.Message)))
	}
	at.State, at.Message = v1alpha1.State(r.State), cut(r.Message)
	return managed.ExternalDelete{}, nil
}

// Disconnect has nothing to do: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// tell what was done in events.
func (e *external) tell(mr *v1alpha1.Manifest, r engine.Result) {
	if len(r.Installed) > 0 {
		e.record.Event(mr, event.Normal(reasonInstalled, "Installed "+strings.Join(r.Installed, ", ")))
	}
	if len(r.Repaired) > 0 {
		e.record.Event(mr, event.Normal(reasonDriftRepaired, "Repaired drift: "+drifts(r.Repaired)))
	}
	if len(r.Pruned) > 0 {
		e.record.Event(mr, event.Normal(reasonPruned, "Removed what is no longer part of the module: "+names(r.Pruned)))
	}
	if len(r.HooksSkipped) > 0 {
		e.record.Event(mr, event.Warning(reasonHooksSkipped, errors.Errorf(
			"hooks of %s were not run: this version of the provider does not run hooks", strings.Join(r.HooksSkipped, ", "))))
	}
}

// most objects are named in one message.
const most = 5

func drifts(in []engine.Drift) string {
	lines := make([]string, 0, len(in))
	for _, d := range in {
		lines = append(lines, d.String())
	}
	return list(lines)
}

func names(in []engine.Key) string {
	lines := make([]string, 0, len(in))
	for _, k := range in {
		lines = append(lines, k.String())
	}
	return list(lines)
}
