// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A removal states whether a Manifest that is being deleted can still remove its objects.
type removal string

const (
	// removable means that the cluster can be queried.
	removable removal = "Removable"
	// needless means that the Manifest never installed anything.
	needless removal = "Needless"
	// blocked means that a temporary problem blocks the removal.
	blocked removal = "Blocked"
	// denied means that the cluster does not let the provider read the inventory, so a user can abandon its objects.
	denied removal = "Denied"
	// lost means that the cluster may no longer exist, so a user may abandon its objects.
	lost removal = "Lost"
)

// removalOf returns the removal of a Manifest. found is set if its cluster was found, and err is the error of the attempt.
func removalOf(mr *v1alpha1.Manifest, found bool, err error) removal {
	switch {
	case found:
		return removable
	case neverInstalled(mr):
		return needless
	case missing(err):
		return lost
	}
	return blocked
}

// removalAfter returns the removal that follows from the response of the cluster.
func removalAfter(err error) removal {
	switch {
	case err == nil:
		return removable
	case unreachable(err):
		return lost
	case kerrors.IsForbidden(err):
		return denied
	}
	return blocked
}

// outlineOf returns the bundle of a Manifest without its parts. It is enough to remove or to detach the objects that the inventory lists.
func outlineOf(mr *v1alpha1.Manifest) *engine.Bundle {
	out := &engine.Bundle{
		Name: naming.InventoryOf(mr), Owner: naming.OwnerOf(mr), OwnerRequired: !naming.InNamespace(mr), Adopt: adopts(mr),
		OwnerUID: string(mr.UID), Planned: mr.Spec.ForProvider.Mode == v1alpha1.ModePlan,
		ClusterUID: mr.Status.AtProvider.ClusterUID, NewClusterUID: mr.Annotations[v1alpha1.AnnotationClusterChanged],
		Installed: naming.HadInventory(mr), Labels: map[string]string{},
	}
	for _, l := range labels {
		if v, ok := mr.Labels[l]; ok {
			out.Labels[l] = v
		}
	}
	return out
}

// neverInstalled reports whether a Manifest never reached its cluster.
func neverInstalled(mr *v1alpha1.Manifest) bool {
	return meta.GetExternalName(mr) == "" && meta.GetExternalCreatePending(mr).IsZero() && mr.Status.AtProvider.Resources == nil
}

// nothing is the external client of a Manifest that has no objects in any cluster.
type nothing struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]
}

// Observe returns that no external resource exists.
func (nothing) Observe(context.Context, *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

// Disconnect does nothing.
func (nothing) Disconnect(context.Context) error { return nil }

// observeRemoval checks in the cluster, not in the cache, whether an inventory exists, because the finalizer depends on it.
func (e *external) observeRemoval(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	err, exists := checkReady(e.cluster), false
	if err == nil {
		exists, err = e.exists(ctx, mr)
		e.reportOwner(err)
	}
	if q := quietly(e.after, err); q != nil {
		return managed.ExternalObservation{}, q
	}
	if other := (*engine.OwnedError)(nil); errors.As(err, &other) {
		// The inventory's owner keeps it, with all objects that it lists.
		e.report.recordOther(mr, other)
		err = nil
	}
	can := removalAfter(err)
	switch {
	case can == removable:
		if !exists {
			e.report.recordMoved(mr)
		}
		e.report.removal(mr)
		return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: true}, nil
	case e.report.blocked(mr, can, err):
		return managed.ExternalObservation{}, nil
	}
	return managed.ExternalObservation{}, e.report.error(transport.Explain(err))
}

// Delete executes the next step of the removal.
func (e *external) Delete(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalDelete, error) {
	r, err := e.removeOrDetach(ctx, mr)
	e.report.recordRemoval(mr, r)
	e.sharer.Changed(len(r.HandedOver) > 0 || detaches(mr))
	if err != nil {
		can := removalAfter(err)
		if can == denied {
			can = blocked // The inventory could be read, so nothing is abandoned.
		}
		e.report.waiting(mr, can, err)
		return managed.ExternalDelete{}, e.report.error(transport.Explain(err))
	}
	e.report.removalStep(mr, r)
	if r.Gone {
		e.again()
	}
	return managed.ExternalDelete{}, nil
}

// detaches reports whether a Manifest that is being deleted leaves its objects in the cluster, and no longer manages them.
func detaches(mr *v1alpha1.Manifest) bool { return asked(mr, v1alpha1.AnnotationDetach) }

// exists reports whether anything is left to remove or to detach.
func (e *external) exists(ctx context.Context, mr *v1alpha1.Manifest) (bool, error) {
	if detaches(mr) {
		done, err := e.engine.IsDetached(ctx, e.cluster, e.choice.bundle)
		return !done && err == nil, err
	}
	return e.engine.Exists(ctx, e.cluster, e.choice.bundle)
}

// removeOrDetach executes the next step of the removal, or detaches all objects.
func (e *external) removeOrDetach(ctx context.Context, mr *v1alpha1.Manifest) (engine.Removal, error) {
	if detaches(mr) {
		err := e.engine.Detach(ctx, e.cluster, e.choice.bundle)
		return engine.Removal{State: engine.Deleting, Gone: err == nil}, err
	}
	return e.engine.Remove(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
}
