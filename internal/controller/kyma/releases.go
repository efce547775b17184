// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// usersOfTemplate returns requests for the Kymas that a template concerns.
func (w *watches) usersOfTemplate(ctx context.Context, o client.Object) []reconcile.Request {
	t, ok := o.(*v1alpha1.ModuleTemplate)
	if !ok {
		return nil
	}
	name := module.NameOf(t)
	return w.usersOfModule(ctx, name, func(k *v1alpha1.Kyma) bool { return isConcerned(k, name, t) })
}

// usersOfModule returns requests for the Kymas with a module that a function selects.
func (w *watches) usersOfModule(ctx context.Context, name string, selects func(k *v1alpha1.Kyma) bool) []reconcile.Request {
	l := &v1alpha1.KymaList{}
	if err := w.client.List(ctx, l, client.MatchingFields{indexModules: name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	return requestsFor(l, selects)
}

func requestsFor(l *v1alpha1.KymaList, selects func(k *v1alpha1.Kyma) bool) []reconcile.Request {
	var out []reconcile.Request
	for i := range l.Items {
		if selects(&l.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}

// isConcerned reports whether a template concerns a Kyma: the Kyma has the module from the channel of the template, or has its version,
// or waits for it. The message of a module that failed may list channels and versions.
func isConcerned(k *v1alpha1.Kyma, name string, t *v1alpha1.ModuleTemplate) bool {
	return slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool {
		return m.Name == name && (m.Version != "" && m.Version == t.Status.Version || m.Version == "" && channelOf(k, &m) == t.Spec.Channel)
	}) || slices.ContainsFunc(k.Status.AtProvider.Modules, func(m v1alpha1.ModuleStatus) bool {
		return m.Name == name && (m.State == v1alpha1.StateError || m.Version == "" || t.Spec.Channel == "" &&
			(m.Version == t.Status.Version || m.PendingVersion != ""))
	})
}

// releases handles events about ModuleReleaseMetas. A change of the status in mid-rollout concerns the Kymas whose turn has come, and
// not the whole fleet.
func (w *watches) releases() handler.EventHandler {
	add := func(q queue, requests []reconcile.Request) {
		for _, r := range requests {
			priority.Low(q).Add(r)
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
			add(q, w.usersOfModule(ctx, is.Spec.ModuleName, w.turnComes(ctx, was, is)))
		},
	}
}

// usersOfRelease returns requests for the Kymas that have the module of a ModuleReleaseMeta, or must have it.
func (w *watches) usersOfRelease(ctx context.Context, o client.Object) []reconcile.Request {
	r, ok := o.(*v1alpha1.ModuleReleaseMeta)
	if !ok {
		return nil
	}
	if r.Spec.Mandatory == nil {
		return w.usersOfModule(ctx, r.Spec.ModuleName, func(*v1alpha1.Kyma) bool { return true })
	}
	l := &v1alpha1.KymaList{}
	if err := w.client.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	return requestsFor(l, func(k *v1alpha1.Kyma) bool {
		return catalogue.Selects(r, k.Labels) || slices.Contains(moduleNames(k), r.Spec.ModuleName)
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
		if !complete && slices.Contains(policiesOf(r), o.GetName()) {
			out = append(out, w.usersOfModule(ctx, r.Spec.ModuleName, func(*v1alpha1.Kyma) bool { return true })...)
		}
	}
	return out
}

// turnComes returns a function that reports whether a change of the status of a ModuleReleaseMeta concerns a Kyma: the rollout in its
// channel is in another phase or for another version, or its turn has come.
func (w *watches) turnComes(ctx context.Context, was, is *v1alpha1.ModuleReleaseMeta) func(k *v1alpha1.Kyma) bool {
	before, policies := map[string]*v1alpha1.ChannelRollout{}, map[string]*v1alpha1.RolloutPolicySpec{}
	for i := range was.Status.Channels {
		before[was.Status.Channels[i].Channel] = &was.Status.Channels[i]
	}
	for _, name := range policiesOf(is) {
		if p := (&v1alpha1.RolloutPolicy{}); w.client.Get(ctx, client.ObjectKey{Name: name}, p) == nil {
			policies[name] = &p.Spec
		}
	}
	changed := !equality.Semantic.DeepEqual(was.Status.GetCondition("Ready"), is.Status.GetCondition("Ready"))
	return func(k *v1alpha1.Kyma) bool {
		channel := channelIn(k, is)
		i := slices.IndexFunc(is.Status.Channels, func(c v1alpha1.ChannelRollout) bool { return c.Channel == channel })
		if i < 0 {
			return changed
		}
		a, b := before[channel], &is.Status.Channels[i]
		if a == nil || a.Version != b.Version || a.Phase != b.Phase || a.Previous != b.Previous || changed {
			return true
		}
		policy, module := policies[policyIn(is, channel)], is.Spec.ModuleName
		r := rollout.Kyma{UID: k.UID, Labels: k.Labels}
		return rollout.IsAllowed(module, a, policy, r) != rollout.IsAllowed(module, b, policy, r)
	}
}

// channelIn returns the channel from which a Kyma has the module of a ModuleReleaseMeta.
func channelIn(k *v1alpha1.Kyma, r *v1alpha1.ModuleReleaseMeta) string {
	if r.Spec.Mandatory != nil {
		return v1alpha1.MandatoryChannel
	}
	for i := range k.Spec.ForProvider.Modules {
		if m := &k.Spec.ForProvider.Modules[i]; m.Name == r.Spec.ModuleName && m.Version == "" {
			return channelOf(k, m)
		}
	}
	return ""
}

// policyIn returns the name of the RolloutPolicy of a channel.
func policyIn(r *v1alpha1.ModuleReleaseMeta, channel string) string {
	if m := r.Spec.Mandatory; m != nil {
		return m.RolloutPolicy
	}
	for i := range r.Spec.Channels {
		if r.Spec.Channels[i].Channel == channel {
			return r.Spec.Channels[i].RolloutPolicy
		}
	}
	return ""
}
