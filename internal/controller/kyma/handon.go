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
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lane"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// handOn is a reconciler around the managed one. That one does nothing for a Kyma that is paused, does not update where
// policies forbid it, and lets go of a Kyma that is to be deleted without its external resource, before any of our code is
// called. What the Manifests have to know must reach them before.
type handOn struct {
	reconcile.Reconciler

	client client.Client
	family *family
	record event.Recorder
	lanes  *lane.Lanes
	// policies says that spec.managementPolicies count.
	policies bool
	// poll is how long to wait for an event of a Manifest that is on its way out.
	poll time.Duration
}

// A command is what the Manifests of a Kyma have to know.
type command struct {
	paused, abandon bool
	// plan says that nothing may be applied, force that nothing may block a removal.
	plan, force bool
	// policies to be handed on; nil leaves that to the usual way.
	policies xpv2.ManagementPolicies
}

// Reconcile a Kyma. An edit is carried out where a pass ends well, and asks for no other one at once.
func (h *handOn) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	edit := h.lanes.Edited(req.NamespacedName)
	res, err := h.reconcile(ctx, req)
	if again := res.Requeue || res.RequeueAfter == soon; err == nil && !again { //nolint:staticcheck // The managed reconciler sets it.
		h.lanes.CarriedOut(req.NamespacedName, edit)
	}
	return res, err
}

// reconcile hands on, and then reconciles.
func (h *handOn) reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	k := &v1alpha1.Kyma{}
	if err := h.client.Get(ctx, req.NamespacedName, k); err != nil {
		return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot get the Kyma")
	}
	children, err := h.family.children(ctx, k)
	if err != nil {
		return reconcile.Result{}, err
	}
	policy := managed.NewManagementPoliciesResolver(h.policies, k.Spec.ManagementPolicies)
	err = h.tell(ctx, k, children, commandOf(k, policy))
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case !meta.WasDeleted(k) || stopped(k, policy):
	case !policy.ShouldDelete():
		// Nobody could tell one that the cache does not show yet, once the Kyma is gone.
		unseen, err := h.family.unseen(ctx, k, children)
		if err != nil || unseen {
			return reconcile.Result{RequeueAfter: soon}, err
		}
	case len(children) > 0 && !slices.ContainsFunc(children, func(m *v1alpha1.Manifest) bool { return !onItsWayOut(m) }):
		return h.wait(ctx, k, children)
	}
	return h.Reconciler.Reconcile(pinned(ctx, k), req)
}

// stopped says that the managed reconciler does nothing for a Kyma: it is paused, or has policies that nobody supports.
func stopped(k *v1alpha1.Kyma, policy managed.ManagementPoliciesChecker) bool {
	return meta.IsPaused(k) || policy.IsPaused() || policy.Validate() != nil
}

// commandOf a Kyma.
func commandOf(k *v1alpha1.Kyma, policy managed.ManagementPoliciesChecker) command {
	c := command{paused: meta.IsPaused(k) || policy.IsPaused(), plan: planned(k)}
	if stopped(k, policy) {
		return c
	}
	gone := meta.WasDeleted(k)
	c.abandon = gone && k.Annotations[v1alpha1.AnnotationAbandon] == "true"
	c.force = gone && k.Annotations[v1alpha1.AnnotationForceRemoval] == "true"
	if !policy.ShouldUpdate() || gone && !policy.ShouldDelete() {
		c.policies = k.Spec.ManagementPolicies
	}
	return c
}

// tell the Manifests, those included that are on their way out: one that is paused would stay.
func (h *handOn) tell(ctx context.Context, k *v1alpha1.Kyma, children []*v1alpha1.Manifest, c command) error {
	var abandoned []string
	for _, m := range children {
		out := told(k, m, c)
		if out == m {
			continue
		}
		h.lanes.Settle(client.ObjectKeyFromObject(m))
		// Whether a user has paused it must be known as it is now.
		if err := h.client.Patch(ctx, out, client.MergeFromWithOptions(m, client.MergeFromWithOptimisticLock{})); notfound.Ignore(err) != nil {
			return errors.Wrapf(err, "cannot hand on to Manifest %s", m.Name)
		}
		if c.abandon {
			abandoned = append(abandoned, fmt.Sprintf("%s (version %s, Manifest %s)", moduleOf(k, m), m.Spec.ForProvider.Version, m.Name))
		}
	}
	if len(abandoned) > 0 {
		slices.Sort(abandoned)
		h.record.Event(k, event.Warning(reasonAbandoned, errors.Errorf(
			"what cannot be reached any more in the cluster of %s %s is left behind there: modules %s",
			k.Spec.ProviderConfigReference.Kind, k.Spec.ProviderConfigReference.Name, strings.Join(abandoned, ", "))))
	}
	return nil
}

// told is a Manifest that knows; the same one where it does already.
func told(k *v1alpha1.Kyma, m *v1alpha1.Manifest, c command) *v1alpha1.Manifest {
	pause, resume := c.paused && !meta.IsPaused(m), !c.paused && m.Annotations[v1alpha1.AnnotationPausedBy] != ""
	abandon := c.abandon && m.Annotations[v1alpha1.AnnotationAbandon] != "true"
	policies := c.policies != nil && !slices.Equal(m.Spec.ManagementPolicies, c.policies)
	force := c.force && m.Annotations[v1alpha1.AnnotationForceRemoval] != "true"
	plan := c.plan && m.Annotations[v1alpha1.AnnotationPlan] != "true"
	if !slices.Contains([]bool{pause, resume, abandon, policies, force, plan}, true) {
		return m
	}
	out := m.DeepCopy()
	if pause {
		meta.AddAnnotations(out, map[string]string{
			meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: k.Name,
		})
	}
	if resume {
		meta.RemoveAnnotations(out, v1alpha1.AnnotationPausedBy, meta.AnnotationKeyReconciliationPaused)
	}
	if plan {
		meta.AddAnnotations(out, plannedBy(k))
	}
	switchOn(out, abandon, v1alpha1.AnnotationAbandon)
	switchOn(out, force, v1alpha1.AnnotationForceRemoval)
	if policies {
		out.Spec.ManagementPolicies = c.policies
	}
	return out
}

// switchOn an annotation of a Manifest, where that is wanted.
func switchOn(m *v1alpha1.Manifest, wanted bool, annotation string) {
	if wanted {
		meta.AddAnnotations(m, map[string]string{annotation: "true"})
	}
}

// wait for Manifests that are all on their way out. The managed reconciler would delete them in each pass again, with an
// event, a longer delay each time and no message; and it would say nothing while there are other finalizers, as in the
// foreground.
func (h *handOn) wait(ctx context.Context, k *v1alpha1.Kyma, children []*v1alpha1.Manifest) (reconcile.Result, error) {
	report(k, removal(k, children))
	mark(k, xpv2.ReconcileSuccess())
	err := h.client.Status().Update(ctx, k)
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	return reconcile.Result{RequeueAfter: h.poll}, errors.Wrap(notfound.Ignore(err), "cannot update the status of the Kyma")
}
