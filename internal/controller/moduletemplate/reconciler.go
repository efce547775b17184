// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/timeout"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// soon is how long it takes until the cache shows what another client wrote.
const soon = 250 * time.Millisecond

// A Resolver reads component descriptors.
type Resolver interface {
	// Resolve a template. The error is a *module.InvalidError where another try would not help.
	Resolve(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) (*module.Resolution, error)
	// Components that the status of a template stands for.
	Components(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) ([]*ocm.Descriptor, error)
}

type reconciler struct {
	client     client.Client
	resolver   Resolver
	registries func(ctx context.Context) (oci.Registries, error)
	keys       keys
	timeout    time.Duration
	log        logging.Logger
	record     event.Recorder
}

// Reconcile a ModuleTemplate.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	t := &v1alpha1.ModuleTemplate{}
	if err := r.client.Get(ctx, req.NamespacedName, t); err != nil {
		return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot get ModuleTemplate")
	}
	if meta.WasDeleted(t) {
		return reconcile.Result{}, nil
	}
	before := t.DeepCopy()
	failed := r.bounded(ctx, t)
	if failed == nil || !resolved(t) {
		// Otherwise it could not be verified: what was said of it before stays.
		conclude(t)
	}
	if !equality.Semantic.DeepEqual(before.Status, t.Status) {
		err := r.client.Status().Update(ctx, t)
		if kerrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: soon}, nil
		}
		if err != nil {
			return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot update the status of ModuleTemplate")
		}
		for _, e := range events(before, t) {
			r.record.Event(t, e)
		}
	}
	return reconcile.Result{}, failed
}

// bounded is reconcile in the time that there is. What became of it is said also where that was not enough.
func (r *reconciler) bounded(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	ctx, cancel := timeout.With(ctx, r.timeout)
	defer cancel()
	return timeout.Explain(ctx, r.reconcile(ctx, t))
}

// reconcile the status of a template. The error is one where another try may help; the status says it already.
func (r *reconciler) reconcile(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	others, err := (&siblings{client: r.client}).of(ctx, release(t), t.Name)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		refuse(t, v1alpha1.ReasonAmbiguous, ambiguous(t, others))
		return nil
	}
	if resolved(t) {
		reportResolved(t)
		return r.verify(ctx, t)
	}
	return r.resolve(ctx, t)
}

// resolved says whether the resolution in the status is that of the template as it is.
func resolved(t *v1alpha1.ModuleTemplate) bool {
	s := &t.Status
	if s.ResolvedGeneration != t.Generation || s.Version == "" || s.ModuleName != module.NameOf(t) {
		return false
	}
	if token, ok := requested(t); ok && token != s.LastHandledReconcileAt {
		return false
	}
	// One that was refused is reconciled again, unless its siblings were the reason, which are gone.
	c := s.GetCondition(v1alpha1.TypeResolved)
	return c.Status != corev1.ConditionFalse || c.Reason == v1alpha1.ReasonAmbiguous
}

// requested returns the value of the annotation that requests a reconcile, as far as the status holds it.
func requested(t *v1alpha1.ModuleTemplate) (string, bool) {
	token, ok := meta.GetReconcileRequest(t)
	return conditions.Truncate(token, conditions.MaxMessage), ok
}

func (r *reconciler) resolve(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	regs, err := r.registries(ctx)
	if err != nil {
		refuse(t, v1alpha1.ReasonResolveFailed, err.Error())
		return err
	}
	res, err := r.resolver.Resolve(ctx, regs, t)
	var invalid *module.InvalidError
	switch {
	case errors.As(err, &invalid):
		refuse(t, v1alpha1.ReasonInvalid, err.Error())
	case err != nil:
		refuse(t, v1alpha1.ReasonResolveFailed, timeout.Explain(ctx, err).Error())
		return err
	default:
		if message := lowered(t, res); message != "" {
			refuse(t, v1alpha1.ReasonDowngrade, message)
			break
		}
		report(t, res)
		r.keys.report(t, res.Components)
		r.log.Debug("Resolved a ModuleTemplate", "name", t.Name, "module", res.ModuleName, "version", res.Version, "digest", res.Digest)
	}
	if token, ok := requested(t); ok {
		t.Status.LastHandledReconcileAt = token
	}
	return nil
}

// lowered says that a resolution has a lower version than the template had, unless that is meant. The versions of another
// module mean nothing here.
func lowered(t *v1alpha1.ModuleTemplate, res *module.Resolution) string {
	s := &t.Status
	allowed := strings.TrimSpace(t.Annotations[v1alpha1.AnnotationAllowDowngrade])
	if s.Version == "" || s.ModuleName != res.ModuleName || allowed == res.Version {
		return ""
	}
	if c, err := module.CompareVersions(res.Version, s.Version); err != nil || c >= 0 {
		return ""
	}
	return "version " + res.Version + " is lower than " + s.Version + ", which the ModuleTemplate had: to go back, annotate it with " +
		v1alpha1.AnnotationAllowDowngrade + "=" + res.Version
}

// verify what was resolved before, where it was not yet with the keys that are configured now.
func (r *reconciler) verify(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	if r.keys.known(t) {
		return nil
	}
	if len(r.keys.all) == 0 {
		r.keys.report(t, nil)
		return nil
	}
	regs, err := r.registries(ctx)
	if err != nil {
		return err
	}
	components, err := r.resolver.Components(ctx, regs, t)
	var invalid *module.InvalidError
	if errors.As(err, &invalid) {
		r.keys.refuse(t, err)
		return nil
	}
	if err != nil {
		return err
	}
	r.keys.report(t, components)
	return nil
}
