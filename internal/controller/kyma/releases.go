// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// usersOfTemplate returns requests for the Kymas that a template concerns.
func (w *watches) usersOfTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	t, ok := o.(*v1alpha1.ModuleTemplate)
	if !ok {
		return nil
	}
	name := module.NameOf(t)
	return w.usersOfModule(ctx, name, func(k *v1alpha1.Kyma) bool { return catalogue.Concerns(k, name, t) })
}

// usersOfModule returns requests for the Kymas that a function selects among those with a module, or among all if its name is empty.
func (w *watches) usersOfModule(ctx context.Context, name string, selects func(k *v1alpha1.Kyma) bool) []reconcile.Request {
	var kymas []*v1alpha1.Kyma
	all, err := w.fleet.Objects(ctx)
	switch {
	case err != nil:
	case name == "":
		kymas = all.All()
	default:
		kymas, err = all.By(IndexModules, name)
	}
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Cannot list the Kymas that an event concerns", "module", name)
	}
	var out []reconcile.Request
	for _, k := range kymas {
		if selects(k) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(k)})
		}
	}
	return out
}

// releases handles events about ModuleReleaseMetas. A change of the status in mid-rollout concerns the Kymas whose turn has come, and
// not the whole fleet.
func (w *watches) releases() handler.EventHandler {
	add := func(q queue, requests []reconcile.Request) {
		for _, r := range requests {
			priority.With(priority.Rollout, q).Add(r)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { add(q, w.usersOfRelease(ctx, e.Object)) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { add(q, w.usersOfRelease(ctx, e.Object)) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			was, ok := e.ObjectOld.(*v1alpha1.ModuleReleaseMeta)
			is, isok := e.ObjectNew.(*v1alpha1.ModuleReleaseMeta)
			if !ok || !isok {
				return
			}
			if was.Generation != is.Generation || was.Annotations[v1alpha1.AnnotationAllowDowngrade] != is.Annotations[v1alpha1.AnnotationAllowDowngrade] {
				add(q, w.usersOfRelease(ctx, was))
				add(q, w.usersOfRelease(ctx, is))
				return
			}
			if selects := catalogue.Concerned(was, is, w.policiesOf(ctx, is)); selects != nil {
				add(q, w.kymasOf(ctx, is, selects))
			}
		},
	}
}

// usersOfRelease returns requests for the Kymas that have the module of a ModuleReleaseMeta, or must have it.
func (w *watches) usersOfRelease(ctx context.Context, o client.Object) []reconcile.Request {
	r, ok := o.(*v1alpha1.ModuleReleaseMeta)
	if !ok {
		return nil
	}
	return w.kymasOf(ctx, r, func(*v1alpha1.Kyma) bool { return true })
}

// kymasOf returns requests for the Kymas that a function selects among those that have the module of a ModuleReleaseMeta, or must have it.
// A Kyma that must have it may not have reported it yet.
func (w *watches) kymasOf(ctx context.Context, r *v1alpha1.ModuleReleaseMeta, selects func(k *v1alpha1.Kyma) bool) []reconcile.Request {
	if r.Spec.Mandatory == nil {
		return w.usersOfModule(ctx, r.Spec.ModuleName, selects)
	}
	selector := catalogue.SelectorOf(r)
	return w.usersOfModule(ctx, "", func(k *v1alpha1.Kyma) bool {
		return (selector.Matches(labels.Set(k.Labels)) || slices.Contains(moduleNames(k), r.Spec.ModuleName)) && selects(k)
	})
}

// usersOfPolicy returns requests for the Kymas that have a module whose rollout follows a RolloutPolicy.
func (w *watches) usersOfPolicy(ctx context.Context, o client.Object) []reconcile.Request {
	l := &v1alpha1.ModuleReleaseMetaList{}
	if err := w.client.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range l.Items {
		r := &l.Items[i]
		complete := !slices.ContainsFunc(r.Status.Channels, func(c v1alpha1.ChannelRollout) bool { return c.Phase != v1alpha1.RolloutComplete })
		if !complete && slices.Contains(catalogue.PoliciesOf(r), o.GetName()) {
			out = append(out, w.usersOfModule(ctx, r.Spec.ModuleName, func(*v1alpha1.Kyma) bool { return true })...)
		}
	}
	return out
}

// policiesOf returns the RolloutPolicies of a ModuleReleaseMeta that exist, by name.
func (w *watches) policiesOf(ctx context.Context, r *v1alpha1.ModuleReleaseMeta) map[string]*v1alpha1.RolloutPolicySpec {
	out := map[string]*v1alpha1.RolloutPolicySpec{}
	for _, name := range catalogue.PoliciesOf(r) {
		if p := (&v1alpha1.RolloutPolicy{}); w.client.Get(ctx, client.ObjectKey{Name: name}, p) == nil {
			out[name] = &p.Spec
		}
	}
	return out
}
