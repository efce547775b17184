// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

const (
	// active is how long events about Kymas are merged while a rollout is in progress, and rest is that at other times, when they only
	// change numbers in the status.
	active = time.Second
	rest   = 5 * time.Second
	// perKyma is how much longer events are merged for each Kyma, up to checkEvery, because a pass considers all Kymas that have the module.
	perKyma = 100 * time.Microsecond
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// watches maps events to the ModuleReleaseMetas that they concern.
type watches struct {
	client client.Reader
}

// each calls a function for each ModuleReleaseMeta of a module, or for all if it is empty.
func (w *watches) each(ctx context.Context, module string, f func(m *v1alpha1.ModuleReleaseMeta)) {
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if module != "" {
		options = append(options, client.MatchingFields{indexModule: module})
	}
	l := &v1alpha1.ModuleReleaseMetaList{}
	if w.client.List(ctx, l, options...) != nil {
		return
	}
	for i := range l.Items {
		f(&l.Items[i])
	}
}

func request(m *v1alpha1.ModuleReleaseMeta) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)}
}

// siblings queues the other ModuleReleaseMetas of a module when one is created or deleted, or changes its module.
func (w *watches) siblings() handler.EventHandler {
	add := func(ctx context.Context, o client.Object, q queue) {
		m, ok := o.(*v1alpha1.ModuleReleaseMeta)
		if !ok {
			return
		}
		w.each(ctx, m.Spec.ModuleName, func(other *v1alpha1.ModuleReleaseMeta) {
			if other.Name != m.Name {
				q.Add(request(other))
			}
		})
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { add(ctx, e.Object, q) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { add(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
				add(ctx, e.ObjectOld, q)
				add(ctx, e.ObjectNew, q)
			}
		},
	}
}

// templates queues the ModuleReleaseMetas of the module of a ModuleTemplate.
func (w *watches) templates() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		t, ok := o.(*v1alpha1.ModuleTemplate)
		if !ok {
			return nil
		}
		var out []reconcile.Request
		w.each(ctx, module.NameOf(t), func(m *v1alpha1.ModuleReleaseMeta) { out = append(out, request(m)) })
		return out
	})
}

// policies queues the ModuleReleaseMetas that refer to a RolloutPolicy.
func (w *watches) policies() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var out []reconcile.Request
		w.each(ctx, "", func(m *v1alpha1.ModuleReleaseMeta) {
			for _, t := range targetsOf(m) {
				if t.release.RolloutPolicy == o.GetName() {
					out = append(out, request(m))
					return
				}
			}
		})
		return out
	})
}

// kymas queues the ModuleReleaseMetas of the modules of a Kyma, a while after it has changed.
func (w *watches) kymas() handler.EventHandler {
	add := func(ctx context.Context, k *v1alpha1.Kyma, q queue) {
		for _, name := range namesOf(k) {
			w.each(ctx, name, func(m *v1alpha1.ModuleReleaseMeta) { q.AddAfter(request(m), delayOf(m)) })
		}
	}
	one := func(ctx context.Context, o client.Object, q queue) {
		if k, ok := o.(*v1alpha1.Kyma); ok {
			add(ctx, k, q)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { one(ctx, e.Object, q) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { one(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			was, ok := e.ObjectOld.(*v1alpha1.Kyma)
			is, isok := e.ObjectNew.(*v1alpha1.Kyma)
			if ok && isok && affects(was, is) {
				add(ctx, was, q)
				add(ctx, is, q)
			}
		},
	}
}

// affects reports whether a change of a Kyma can affect a rollout.
func affects(was, is *v1alpha1.Kyma) bool {
	return was.Generation != is.Generation || !maps.Equal(was.Labels, is.Labels) || !maps.Equal(was.Annotations, is.Annotations) ||
		!equality.Semantic.DeepEqual(was.Status.AtProvider.Modules, is.Status.AtProvider.Modules)
}

// namesOf returns the names of the modules that a Kyma enables or has, without duplicates.
func namesOf(k *v1alpha1.Kyma) []string {
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if !seen[name] {
			seen[name], out = true, append(out, name)
		}
	}
	for i := range k.Spec.ForProvider.Modules {
		add(k.Spec.ForProvider.Modules[i].Name)
	}
	for i := range k.Status.AtProvider.Modules {
		add(k.Status.AtProvider.Modules[i].Name)
	}
	return out
}

// delayOf returns how long events about the Kymas of a ModuleReleaseMeta are merged.
func delayOf(m *v1alpha1.ModuleReleaseMeta) time.Duration {
	delay, kymas := rest, 0
	for i := range m.Status.Channels {
		c := &m.Status.Channels[i]
		if isActive(c.Phase) {
			delay = active
		}
		kymas += int(c.Total)
	}
	return min(delay+time.Duration(kymas)*perKyma, checkEvery)
}
