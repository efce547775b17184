// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

// These are the delays after a change of a Manifest, so that several changes cause one reconcile: short if a module has
// become Ready or has failed, longer while it is in progress.
const (
	soon  = 50 * time.Millisecond
	later = 2 * time.Second
)

type queue = priority.Queue

// watches maps events about the dependencies of a Kyma to the Kyma.
type watches struct {
	client     client.Reader
	fleet      fleet
	priorities *priority.Tracker
}

// A fleet contains all Kymas.
type fleet interface {
	Objects(ctx context.Context) (cached.Objects[*v1alpha1.Kyma], error)
}

// kymas handles events about Kymas. Edits by users come first; writes of the provider have the priority of a poll.
func (w *watches) kymas() handler.EventHandler {
	add := func(o client.Object, q queue, otherwise int) {
		key := client.ObjectKeyFromObject(o)
		priority.With(w.priorities.PriorityOf(key, otherwise), q).Add(reconcile.Request{NamespacedName: key})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e ctrlevent.CreateEvent, q queue) {
			p := priority.Install
			if k, ok := e.Object.(*v1alpha1.Kyma); ok && e.IsInInitialList {
				p = priority.AtStart(k)
			}
			if e.Object.GetAnnotations()[v1alpha1.AnnotationKymaSetDigest] != "" {
				p = min(p, priority.Rollout)
			} else if p > priority.Resync {
				w.priorities.AddEdit(client.ObjectKeyFromObject(e.Object), p)
			}
			add(e.Object, q, p)
		},
		UpdateFunc: func(_ context.Context, e ctrlevent.UpdateEvent, q queue) {
			was, ok := e.ObjectOld.(*v1alpha1.Kyma)
			is, isok := e.ObjectNew.(*v1alpha1.Kyma)
			otherwise := priority.Resync
			if ok && isok && isEdit(was, is) {
				if otherwise = priority.Rollout; !isOfSet(was, is) {
					w.priorities.AddEdit(client.ObjectKeyFromObject(is), priority.User)
				}
			}
			add(e.ObjectNew, q, otherwise)
		},
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q queue) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)})
		},
	}
}

// isOfSet reports whether a KymaSet changed a Kyma. It changes many Kymas at once.
func isOfSet(was, is *v1alpha1.Kyma) bool {
	return was.Annotations[v1alpha1.AnnotationKymaSetDigest] != is.Annotations[v1alpha1.AnnotationKymaSetDigest]
}

// isEdit reports whether a change of a Kyma was made by anyone but the provider.
func isEdit(was, is *v1alpha1.Kyma) bool {
	a, b := was.Spec, is.Spec
	a.ResourceRefs, b.ResourceRefs = nil, nil
	return priority.IsEdit(was, is) || !maps.Equal(was.Labels, is.Labels) || !equality.Semantic.DeepEqual(a, b)
}

// manifests handles events about Manifests for their Kymas. It ignores new Manifests, because Kymas create them.
func (w *watches) manifests() handler.EventHandler {
	add := func(o client.Object, q queue, after time.Duration) {
		if name := ownerName(o); name != "" {
			q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}, after)
		}
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			was, ok := e.ObjectOld.(*v1alpha1.Manifest)
			is, isok := e.ObjectNew.(*v1alpha1.Manifest)
			if ok && isok && affectsKyma(was, is) {
				after := later
				if isStateChange(was, is) && !w.isFollowed(ctx, is) {
					after = soon
				}
				q := priority.With(w.priorities.Cause(client.ObjectKeyFromObject(is), priority.State), q)
				add(is, q, after)
				if ownerName(was) != ownerName(is) {
					add(was, q, after)
				}
			}
		},
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) {
			add(e.Object, q, soon)
			w.enqueueByName(ctx, q, e.Object)
		},
	}
}

// enqueueByName enqueues the Kymas that need the name of a deleted Manifest for one of their modules.
func (w *watches) enqueueByName(ctx context.Context, q queue, o client.Object) {
	for i, c := range o.GetName() {
		key, k := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()[:i]}, &v1alpha1.Kyma{}
		if c != '-' || i == 0 || w.client.Get(ctx, key, k) != nil {
			continue
		}
		if slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool { return m.Name == o.GetName()[i+1:] }) {
			q.AddAfter(reconcile.Request{NamespacedName: key}, soon)
		}
	}
}

// finalizerRemoved passes updates that remove a finalizer of a Kyma that is being deleted. The managed reconciler waits until
// its own finalizer is the only one left.
func finalizerRemoved() predicate.Predicate {
	return updates(func(was, is client.Object) bool {
		return meta.WasDeleted(is) && len(is.GetFinalizers()) < len(was.GetFinalizers())
	})
}

// updates passes the updates that a function selects, and nothing else.
func updates(selects func(was, is client.Object) bool) predicate.Predicate {
	out := predicate.NewPredicateFuncs(func(client.Object) bool { return false })
	out.UpdateFunc = func(e ctrlevent.UpdateEvent) bool { return selects(e.ObjectOld, e.ObjectNew) }
	return out
}

// isFollowed reports whether a Manifest became Ready while other Manifests of its Kyma are in progress. They probably become Ready a
// moment later, and each reconcile in between would write the status of the Kyma.
func (w *watches) isFollowed(ctx context.Context, is *v1alpha1.Manifest) bool {
	if is.Status.AtProvider.State != v1alpha1.StateReady {
		return false
	}
	l := &v1alpha1.ManifestList{}
	err := w.client.List(ctx, l, client.InNamespace(is.Namespace), client.MatchingFields{indexKyma: string(ownerUID(is))}, client.UnsafeDisableDeepCopy)
	return err == nil && slices.ContainsFunc(l.Items, func(m v1alpha1.Manifest) bool {
		at := m.Status.AtProvider.State
		return m.UID != is.UID && (at == "" || at == v1alpha1.StateProcessing)
	})
}

// firstWrite passes the update that adds the external name and the references to a Kyma and nothing else. The reconcile that writes
// it continues with its result.
func firstWrite() predicate.Predicate {
	return updates(func(o, n client.Object) bool {
		was, ok := o.(*v1alpha1.Kyma)
		is, isok := n.(*v1alpha1.Kyma)
		return ok && isok && meta.GetExternalName(was) == "" && meta.GetExternalName(is) != "" && !isEdit(was, is)
	})
}

// isStateChange reports whether a Manifest became Ready or stopped being Ready, failed, or is being deleted.
func isStateChange(was, is *v1alpha1.Manifest) bool {
	a, b := was.Status.AtProvider.State, is.Status.AtProvider.State
	return a != b && (a == v1alpha1.StateReady || b != v1alpha1.StateProcessing) || meta.WasDeleted(was) != meta.WasDeleted(is)
}

// ownerName returns the name of the Kyma that owns a Manifest.
func ownerName(o client.Object) string {
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == v1alpha1.KymaKind {
			return r.Name
		}
	}
	return ""
}

// affectsKyma reports whether a change of a Manifest can affect its Kyma.
func affectsKyma(was, is *v1alpha1.Manifest) bool {
	a, b := &was.Status.AtProvider, &is.Status.AtProvider
	return was.Generation != is.Generation ||
		meta.WasDeleted(was) != meta.WasDeleted(is) ||
		a.State != b.State || a.Message != b.Message ||
		conditionChanged(was, is, xpv2.TypeReady) || conditionChanged(was, is, xpv2.TypeSynced) ||
		conditionChanged(was, is, v1alpha1.TypeStalled) ||
		!was.GetCondition(v1alpha1.TypeVerified).Equal(is.GetCondition(v1alpha1.TypeVerified)) ||
		!slices.EqualFunc(was.OwnerReferences, is.OwnerReferences, func(x, y metav1.OwnerReference) bool { return x.UID == y.UID }) ||
		meta.IsPaused(was) != meta.IsPaused(is) ||
		!contains(was.Labels, is.Labels) || !contains(is.Labels, was.Labels)
}

// conditionChanged reports whether a condition has another status, or belongs to another generation.
func conditionChanged(was, is *v1alpha1.Manifest, t xpv2.ConditionType) bool {
	a, b := was.GetCondition(t), is.GetCondition(t)
	return a.Status != b.Status || a.ObservedGeneration != b.ObservedGeneration
}

// afterStart drops events about objects that exist at the start, because all Kymas are reconciled then.
func afterStart() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(e ctrlevent.CreateEvent) bool { return !e.IsInInitialList }}
}

// templateUpdates drops updates of ModuleTemplates that cannot affect a Kyma.
func templateUpdates() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		was, ok := e.ObjectOld.(*v1alpha1.ModuleTemplate)
		is, isok := e.ObjectNew.(*v1alpha1.ModuleTemplate)
		return ok && isok && catalogue.TemplateChanged(was, is)
	}}
}

// usersOfConfig returns requests for the Kymas whose Manifests use a config. A Manifest has a component descriptor only if
// its config requires signatures.
func (w *watches) usersOfConfig(ctx context.Context, o client.Object) []reconcile.Request {
	l := &v1alpha1.ManifestList{}
	if err := w.client.List(ctx, l, config.UsersOf(o), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range l.Items {
		if name := ownerName(&l.Items[i]); name != "" {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: l.Items[i].Namespace, Name: name}})
		}
	}
	return out
}
