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
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Reasons of events.
const (
	reasonInstalled   event.Reason = "Installed"
	reasonPruned      event.Reason = "Pruned"
	reasonRemoval     event.Reason = "RemovalBlocked"
	reasonNotVerified event.Reason = "NotVerified"
	reasonAbandoned   event.Reason = "Abandoned"
	reasonLeft        event.Reason = "LeftBehind"
)

// An Engine works on sets.
type Engine interface {
	ID(s *engine.Set) string
	Observe(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Observation, error)
	Exists(ctx context.Context, c cluster.Cluster, s *engine.Set) (bool, error)
	Apply(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Result, error)
	Plan(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Plan, error)
	Remove(ctx context.Context, c cluster.Cluster, s *engine.Set) (engine.Removal, error)
}

// external is what one pass of the reconciler works with.
type external struct {
	engine  Engine
	cluster cluster.Cluster
	set     *engine.Set
	record  event.Recorder
	again   func()
	// rollback of upgrades that do not work; nil where the Manifest is being deleted.
	rollback *rollback
}

// Observe the set. It writes nothing to the target cluster.
func (e *external) Observe(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mr) {
		// The finalizer hangs on the answer, so that the cluster itself is asked.
		exists, err := e.engine.Exists(ctx, e.cluster, e.set)
		if err == nil || e.ofOther(mr, err) {
			reportDeletion(mr, nil)
			return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: true}, nil
		}
		reportBlocked(mr, err, unreachable(err))
		if unreachable(err) && abandoned(mr, err, e.record) {
			return managed.ExternalObservation{}, nil
		}
		return managed.ExternalObservation{}, transport.Explain(err)
	}
	o, err := e.look(ctx, mr)
	if err = transport.Explain(err); err != nil {
		reportError(mr, err)
		return managed.ExternalObservation{}, err
	}
	if planOnly(mr) {
		return e.plan(ctx, mr, o)
	}
	mr.Status.AtProvider.Plan = nil
	e.reportDrift(mr, &o)
	report(mr, o)
	return managed.ExternalObservation{ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, Diff: diff(o)}, nil
}

// ofOther says whether the inventory that a Manifest names is that of another owner, who keeps it, with all that it lists.
func (e *external) ofOther(mr *v1alpha1.Manifest, err error) bool {
	o := (*engine.OwnedError)(nil)
	if !errors.As(err, &o) {
		return false
	}
	// While others hold the Manifest it comes here again.
	if len(mr.Finalizers) <= 1 {
		e.record.Event(mr, event.Warning(reasonLeft, errors.Errorf("Nothing was removed: %s is the inventory of %s", o.Inventory, o.Owner)))
	}
	return true
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
	o, oerr := e.engine.Observe(ctx, e.cluster, e.set)
	if oerr != nil {
		reportError(mr, oerr)
		return managed.ExternalUpdate{}, errors.Join(err, oerr)
	}
	o = e.looked(mr, o, r)
	e.reportDrift(mr, &o)
	report(mr, o)
	return managed.ExternalUpdate{}, err
}

// Delete does the next step of the removal.
func (e *external) Delete(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalDelete, error) {
	r, err := e.engine.Remove(ctx, e.cluster, e.set)
	e.tellRemoved(mr, r)
	if err != nil {
		reportBlocked(mr, err, unreachable(err))
		return managed.ExternalDelete{}, transport.Explain(err)
	}
	if r.HookFailed != "" {
		e.record.Event(mr, event.Warning(reasonHookFailed, errors.New(r.HookFailed)))
	}
	if r.Gone {
		e.again()
		return managed.ExternalDelete{}, nil
	}
	at, message := &mr.Status.AtProvider, cut(r.Message)
	if r.State == engine.Warning && at.Message != message {
		e.record.Event(mr, event.Warning(reasonRemoval, errors.New(message)))
	}
	at.State, at.Message = v1alpha1.State(r.State), message
	return managed.ExternalDelete{}, nil
}

// Disconnect has nothing to do: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// tell what was done in events.
func (e *external) tell(mr *v1alpha1.Manifest, r engine.Result) {
	e.tellReplaced(mr, r)
	if len(r.Installed) > 0 {
		e.record.Event(mr, event.Normal(reasonInstalled, "Installed "+strings.Join(r.Installed, ", ")))
	}
	e.tellDrift(mr, r)
	if len(r.Pruned) > 0 {
		e.record.Event(mr, event.Normal(reasonPruned, "Removed what is no longer part of the module: "+names(r.Pruned)))
	}
	e.tellLeft(mr, r.LeftBehind)
	e.tellHooks(mr, r)
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

func names(in []cluster.ObjectRef) string {
	lines := make([]string, 0, len(in))
	for _, k := range in {
		lines = append(lines, k.String())
	}
	return list(lines)
}
