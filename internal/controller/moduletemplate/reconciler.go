// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"fmt"
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

// cacheDelay is the time that the cache needs to receive the write of another client.
const cacheDelay = 250 * time.Millisecond

// A Resolver reads component descriptors.
type Resolver interface {
	// Resolve resolves a template. The error is a *module.InvalidError if a retry would not help.
	Resolve(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) (*module.Resolution, error)
	// Components returns the components that the status of a template refers to.
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

// Reconcile reconciles a ModuleTemplate.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	t := &v1alpha1.ModuleTemplate{}
	if err := r.client.Get(ctx, req.NamespacedName, t); err != nil {
		return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot get ModuleTemplate")
	}
	if meta.WasDeleted(t) {
		return reconcile.Result{}, nil
	}
	before := t.DeepCopy()
	failed := r.reconcileInTime(ctx, t)
	if failed == nil || !isResolved(t) {
		// Otherwise the template could not be verified, and keeps its condition Ready.
		setReady(t)
	}
	if !equality.Semantic.DeepEqual(before.Status, t.Status) {
		err := r.client.Status().Update(ctx, t)
		if kerrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: cacheDelay}, nil
		}
		if err != nil {
			return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot update the status of ModuleTemplate")
		}
		for _, e := range eventsOf(before, t) {
			r.record.Event(t, e)
		}
	}
	return reconcile.Result{}, failed
}

// reconcileInTime reconciles a template within the timeout. The error of a timeout contains the flag that sets it.
func (r *reconciler) reconcileInTime(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	ctx, cancel := timeout.With(ctx, r.timeout)
	defer cancel()
	return timeout.Explain(ctx, r.reconcile(ctx, t))
}

// reconcile updates the status of a template in memory. It returns an error if a retry may help; the status already contains
// the error.
func (r *reconciler) reconcile(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	others, err := (&siblings{client: r.client}).of(ctx, t)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		refuse(t, v1alpha1.ReasonAmbiguous, ambiguityMessage(t, others))
		return nil
	}
	if isResolved(t) {
		setResolved(t)
		return r.verify(ctx, t)
	}
	return r.resolve(ctx, t)
}

// isResolved reports whether the resolution in the status belongs to the current template.
func isResolved(t *v1alpha1.ModuleTemplate) bool {
	s := &t.Status
	if s.ResolvedGeneration != t.Generation || s.Version == "" || s.ModuleName != module.NameOf(t) {
		return false
	}
	if token, ok := requested(t); ok && token != s.LastHandledReconcileAt {
		return false
	}
	// A template that was refused is resolved again, unless the reason was siblings that no longer exist.
	c := s.GetCondition(v1alpha1.TypeResolved)
	return c.Status != corev1.ConditionFalse || c.Reason == v1alpha1.ReasonAmbiguous
}

// requested returns the value of the annotation that requests a reconcile, truncated as in the status, and whether the
// annotation is set.
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
	case t.Spec.Version != "" && t.Spec.Version != res.Version:
		refuse(t, v1alpha1.ReasonInvalid, fmt.Sprintf("spec.version is %s, but the component descriptor has version %s: change spec.version, or "+
			"remove it", t.Spec.Version, res.Version))
	default:
		if message := downgradeMessage(t, res); message != "" {
			refuse(t, v1alpha1.ReasonDowngrade, message)
			break
		}
		setResolution(t, res)
		r.keys.report(t, res.Components)
		r.log.Debug("Resolved a ModuleTemplate", "name", t.Name, "module", res.ModuleName, "version", res.Version, "digest", res.Digest)
	}
	if token, ok := requested(t); ok {
		t.Status.LastHandledReconcileAt = token
	}
	return nil
}

// downgradeMessage returns a message if a resolution has a lower version than the template had and no annotation allows it,
// and an empty string otherwise. It ignores versions of another module.
func downgradeMessage(t *v1alpha1.ModuleTemplate, res *module.Resolution) string {
	s := &t.Status
	allowed := strings.TrimSpace(t.Annotations[v1alpha1.AnnotationAllowDowngrade])
	if t.Spec.Channel == "" || s.Version == "" || s.ModuleName != res.ModuleName || allowed == res.Version {
		return ""
	}
	if c, err := module.CompareVersions(res.Version, s.Version); err != nil || c >= 0 {
		return ""
	}
	return "version " + res.Version + " is lower than the previous version " + s.Version +
		": to downgrade, annotate the ModuleTemplate with " + v1alpha1.AnnotationAllowDowngrade + "=" + res.Version
}

// verify verifies the components that were resolved before, unless the status has the result of the current keys.
func (r *reconciler) verify(ctx context.Context, t *v1alpha1.ModuleTemplate) error {
	if r.keys.isReported(t) {
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
