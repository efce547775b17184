// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// handOn is a reconciler around the managed one. That one does nothing for a Kyma that is paused, and lets go of one that
// is to be deleted without its external resource, before any of our code is called. What the Manifests have to know must
// reach them before.
type handOn struct {
	reconcile.Reconciler

	client client.Client
	family *family
	// policies says that spec.managementPolicies count.
	policies bool
}

// Reconcile hands on, and then reconciles.
func (h *handOn) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	k := &v1alpha1.Kyma{}
	if err := h.client.Get(ctx, req.NamespacedName, k); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get the Kyma")
	}
	paused, keeps := h.paused(k), meta.WasDeleted(k) && h.orphans(k)
	if paused || keeps {
		if err := h.tell(ctx, k, paused, keeps); err != nil {
			return reconcile.Result{}, err
		}
	}
	return h.Reconciler.Reconcile(ctx, req)
}

func (h *handOn) paused(k *v1alpha1.Kyma) bool {
	return meta.IsPaused(k) || h.policies && k.Spec.ManagementPolicies != nil && len(k.Spec.ManagementPolicies) == 0
}

// orphans says that a Kyma leaves everything behind when it is deleted.
func (h *handOn) orphans(k *v1alpha1.Kyma) bool {
	p := k.Spec.ManagementPolicies
	return h.policies && p != nil && !slices.Contains(p, xpv2.ManagementActionAll) && !slices.Contains(p, xpv2.ManagementActionDelete)
}

// tell the Manifests.
func (h *handOn) tell(ctx context.Context, k *v1alpha1.Kyma, paused, keeps bool) error {
	children, err := h.family.children(ctx, k)
	if err != nil {
		return err
	}
	for _, m := range children {
		out := m.DeepCopy()
		if paused && !meta.IsPaused(m) {
			meta.AddAnnotations(out, map[string]string{
				meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: k.Name,
			})
		}
		if keeps {
			out.Spec.ManagementPolicies = k.Spec.ManagementPolicies
		}
		if slices.Equal(m.Spec.ManagementPolicies, out.Spec.ManagementPolicies) && len(out.Annotations) == len(m.Annotations) {
			continue
		}
		if err := h.client.Patch(ctx, out, client.MergeFrom(m)); client.IgnoreNotFound(err) != nil {
			return errors.Wrapf(err, "cannot hand on to Manifest %s", m.Name)
		}
	}
	return nil
}
