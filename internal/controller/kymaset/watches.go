// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
)

// setRequest returns the request for a KymaSet.
func setRequest(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// isSet reports whether a request is for a KymaSet. Others are for a cluster, which always has a namespace.
func isSet(r reconcile.Request) bool { return r.Namespace == "" }

// setChanged passes the changes of a KymaSet that its status does not cause, and the loss of its status.
func setChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, ok := e.ObjectOld.(*v1alpha1.KymaSet)
		is, isok := e.ObjectNew.(*v1alpha1.KymaSet)
		return ok && isok && (was.Generation != is.Generation || meta.WasDeleted(was) != meta.WasDeleted(is) ||
			len(was.Finalizers) != len(is.Finalizers) || len(was.Status.Conditions) > len(is.Status.Conditions))
	}}
}

// clusterHandler queues the cluster of an object with its name. Objects that exist at the start are ignored, because the KymaSets queue
// all of their clusters then. A new cluster does not wait for a fleet.
func clusterHandler(changed func(was, is client.Object) bool) handler.EventHandler {
	add := func(o client.Object, q priority.Queue) {
		q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q priority.Queue) {
			if !e.IsInInitialList {
				add(e.Object, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q priority.Queue) {
			if changed(e.ObjectOld, e.ObjectNew) {
				add(e.ObjectNew, priority.With(priority.Rollout, q))
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q priority.Queue) {
			add(e.Object, priority.With(priority.Rollout, q))
		},
	}
}

// metadataChanged reports whether a change of a cluster can affect whether it is selected, or the values of parameters.
func metadataChanged(was, is client.Object) bool {
	return meta.WasDeleted(was) != meta.WasDeleted(is) || !maps.Equal(was.GetLabels(), is.GetLabels()) ||
		!maps.Equal(was.GetAnnotations(), is.GetAnnotations())
}

// configChanged also passes changes of the specs of ProviderConfigs that a KymaSet manages.
func configChanged(was, is client.Object) bool {
	return metadataChanged(was, is) || kymaset.SetOf(is) != "" && was.GetGeneration() != is.GetGeneration()
}

// kymaChanged reports whether a change of a Kyma can affect its KymaSet.
func kymaChanged(was, is client.Object) bool {
	a, ok := was.(*v1alpha1.Kyma)
	b, isok := is.(*v1alpha1.Kyma)
	if !ok || !isok || kymaset.SetOf(a) == "" && kymaset.SetOf(b) == "" {
		return false
	}
	return metadataChanged(a, b) || a.Generation != b.Generation || a.Status.AtProvider.State != b.Status.AtProvider.State ||
		!a.GetCondition(xpv2.TypeReady).Equal(b.GetCondition(xpv2.TypeReady)) ||
		a.GetCondition(xpv2.TypeReady).ObservedGeneration != b.GetCondition(xpv2.TypeReady).ObservedGeneration
}

// namespaceHandler queues the clusters in a namespace whose labels change.
func namespaceHandler(clusters func(ctx context.Context, namespace string) []types.NamespacedName) handler.EventHandler {
	return handler.Funcs{UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q priority.Queue) {
		if maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
			return
		}
		for _, c := range clusters(ctx, e.ObjectNew.GetName()) {
			priority.With(priority.Rollout, q).Add(reconcile.Request{NamespacedName: c})
		}
	}}
}
