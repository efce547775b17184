// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// With returns a queue that adds items with a priority, unless they are in the queue with a higher one. If q has no priorities,
// With returns q.
func With(priority int, q Queue) Queue {
	if p, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return with{PriorityQueue: p, priority: priority}
	}
	return q
}

// with is a queue with a default priority.
type with struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	priority int
}

// Add adds an item.
func (q with) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item after a delay.
func (q with) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item after the delay of the rate limiter.
func (q with) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts adds items, with the priority of the queue unless the options set one.
func (q with) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if o.Priority == nil {
		o.Priority = new(q.priority)
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}

// RolloutHandler returns a handler that enqueues the requests of an object that concerns many resources, with the priority Rollout. It
// ignores objects that exist when the controller starts, because all resources are enqueued then.
func RolloutHandler(of handler.MapFunc) handler.EventHandler {
	h := handler.EnqueueRequestsFromMapFunc(of)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q Queue) {
			if !e.IsInInitialList {
				h.Create(ctx, e, With(Rollout, q))
			}
		},
		UpdateFunc:  func(ctx context.Context, e event.UpdateEvent, q Queue) { h.Update(ctx, e, With(Rollout, q)) },
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q Queue) { h.Delete(ctx, e, With(Rollout, q)) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q Queue) { h.Generic(ctx, e, With(Rollout, q)) },
	}
}

// ResyncPolls returns a reconciler whose polls have the priority Resync. A poll is a request that r requeues after a delay longer than
// later. Other requests, and retries, keep their priority.
func ResyncPolls(r reconcile.Reconciler, later time.Duration) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := r.Reconcile(ctx, req)
		if err == nil && res.RequeueAfter > later {
			res.Priority = new(Resync)
		}
		return res, err
	})
}
