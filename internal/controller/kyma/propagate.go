// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/unmanaged"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A propagator propagates the intent of a Kyma to its Manifests if the managed reconciler does not call Create or Update. It is a reconciler around
// the managed one, for Kymas that are paused, whose policies forbid updates, or that are being deleted. It is also a finalizer, for Kymas that orphan
// their Manifests.
//
// Both reconcilers read the Kyma, and may read different versions of it. This is harmless. A newer version that the managed reconciler reads has caused
// an event, which starts another reconcile of both, and until then a Manifest does what the Kyma requested before. Only the removal of the finalizer
// cannot be repeated: RemoveFinalizer propagates the Kyma that the managed reconciler has read, and the API server refuses to update any other version.
type propagator struct {
	resource.Finalizer

	connector *connector
	// managed is the managed reconciler.
	managed reconcile.Reconciler
	// poll is how long to wait for an event about a Manifest that is being deleted.
	poll time.Duration
}

// conflictRetry is the delay after a conflict. The cache has the version that caused it within milliseconds.
const conflictRetry = 50 * time.Millisecond

// Reconcile reconciles a Kyma. If it succeeds, and does not request another reconcile immediately, it has carried out the last edit.
func (p *propagator) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	edit := p.connector.priorities.LastEdit(req.NamespacedName)
	wake := &wakeUp{}
	res, err := p.reconcile(context.WithValue(ctx, wakeUpKey{}, wake), req)
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictRetry}, nil
	}
	if err == nil && !res.Requeue { //nolint:staticcheck // The managed reconciler sets it.
		p.connector.priorities.RemoveEdit(req.NamespacedName, edit.Number)
		res.RequeueAfter = wake.limit(res.RequeueAfter, p.connector.currentTime())
	}
	return res, err
}

// reconcile propagates if the managed reconciler does not, and then calls it. If the managed reconciler then calls Delete,
// Delete retries what failed, and the managed reconciler reports the error.
func (p *propagator) reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	k := &v1alpha1.Kyma{}
	if err := p.connector.store.client.Get(ctx, req.NamespacedName, k); err != nil {
		return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot get the Kyma")
	}
	policy := p.connector.policyOf(k)
	if !isBypassed(k, policy) {
		return p.managed.Reconcile(ctx, req)
	}
	manifests, err := p.propagate(ctx, k)
	deletes := meta.WasDeleted(k) && !isStopped(k, policy)
	switch {
	case kerrors.IsConflict(err):
		return reconcile.Result{}, err
	case deletes && allBeingDeleted(manifests):
		// The managed reconciler would delete them again in each reconcile, with an event, a longer delay each time and no
		// message. It would also report nothing while there are other finalizers, as after a deletion in the foreground.
		report(k, planRemoval(k, p.connector.intentOf(k), manifests))
		if err := p.updateStatus(ctx, k, err); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{RequeueAfter: p.poll}, nil
	case err != nil && (!deletes || len(k.Finalizers) > 1):
		return reconcile.Result{}, p.updateStatus(ctx, k, err)
	}
	return p.managed.Reconcile(ctx, req)
}

// isBypassed reports whether the managed reconciler calls neither Create nor Update for a Kyma, and does not remove its finalizer immediately.
func isBypassed(k *v1alpha1.Kyma, policy managed.ManagementPoliciesChecker) bool {
	if meta.WasDeleted(k) {
		return isStopped(k, policy) || policy.ShouldDelete()
	}
	return isStopped(k, policy) || !policy.ShouldUpdate()
}

// allBeingDeleted reports whether there are Manifests, and all of them are being deleted.
func allBeingDeleted(manifests []*v1alpha1.Manifest) bool {
	return len(manifests) > 0 && !slices.ContainsFunc(manifests, func(m *v1alpha1.Manifest) bool { return !isBeingDeleted(m) })
}

// updateStatus updates the status of a Kyma with the result of a propagation, and returns this result.
func (p *propagator) updateStatus(ctx context.Context, k *v1alpha1.Kyma, failed error) error {
	synced := xpv2.ReconcileSuccess()
	if failed != nil {
		synced = xpv2.ReconcileError(failed)
	}
	setCondition(k, synced)
	if err := p.connector.store.client.Status().Update(ctx, k); err != nil {
		return errors.Wrap(notfound.Ignore(err), "cannot update the status of the Kyma")
	}
	return failed
}

// RemoveFinalizer removes the finalizer of a Kyma. Orphaned Manifests must get the policies of the Kyma before it is gone.
func (p *propagator) RemoveFinalizer(ctx context.Context, o resource.Object) error {
	if k, ok := o.(*v1alpha1.Kyma); ok && !p.connector.policyOf(k).ShouldDelete() {
		manifests, err := p.propagate(ctx, k)
		if err != nil {
			return err
		}
		unknown, err := p.connector.store.hasUnknown(ctx, k, manifests)
		if err != nil {
			return err
		}
		if unknown {
			return kerrors.NewConflict(v1alpha1.SchemeGroupVersion.WithResource("kymas").GroupResource(), k.Name,
				errors.New("the cache does not contain all Manifests of the Kyma yet"))
		}
	}
	return p.Finalizer.RemoveFinalizer(ctx, o)
}

// propagate propagates the intent of a Kyma to its Manifests and returns them. It includes Manifests that are being deleted, because a paused one would
// stay. If one fails, it continues with the others. It must know whether a user has paused a Manifest, so it returns a conflict if the cache has an
// older version and nothing else failed.
func (p *propagator) propagate(ctx context.Context, k *v1alpha1.Kyma) ([]*v1alpha1.Manifest, error) {
	manifests, err := p.connector.store.manifests(ctx, k)
	if err != nil {
		return nil, err
	}
	var abandoned []string
	var failed []error
	var conflict error
	in := p.connector.intentOf(k)
	for _, m := range manifests {
		in.detach = unmanaged.IsLeft(k, m)
		desired := desiredManifest(k, in, nil, m)
		if !needsUpdate(m, desired) {
			continue
		}
		p.connector.priorities.SetCause(client.ObjectKeyFromObject(m), priority.User)
		desired.ResourceVersion = m.ResourceVersion
		_, err := p.connector.store.apply(ctx, k, desired)
		switch {
		case kerrors.IsConflict(err):
			conflict = err
		case err != nil:
			failed = append(failed, errors.Wrapf(err, "module %s", moduleOf(k, m)))
		case in.abandon:
			abandoned = append(abandoned, fmt.Sprintf("%s (version %s, Manifest %s)", moduleOf(k, m), m.Spec.ForProvider.Version, m.Name))
		}
	}
	if len(abandoned) > 0 {
		message := fmt.Sprintf("Left modules behind in the unreachable cluster of %s %s: %s",
			k.Spec.ProviderConfigReference.Kind, k.Spec.ProviderConfigReference.Name, strings.Join(abandoned, ", "))
		p.connector.record.Event(k, event.Warning(reasonAbandoned, errors.New(message)))
	}
	if len(failed) > 0 {
		return manifests, errors.Join(failed...)
	}
	return manifests, conflict
}
