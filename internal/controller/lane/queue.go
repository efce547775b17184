// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Low is a queue in which all that is added has low priority, unless it is there with a higher one. A queue without
// priorities stays as it is.
func Low(q Queue) Queue {
	if p, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return low{p}
	}
	return q
}

// For is the queue for what has to wait for users, or for what has not.
func For(q Queue, waits bool) Queue {
	if waits {
		return Low(q)
	}
	return q
}

type low struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// Add an item.
func (q low) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item when a time is over.
func (q low) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item when the rate limiter says so.
func (q low) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts adds items, with the priority that is asked for if any is.
func (q low) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if o.Priority == nil {
		o.Priority = new(handler.LowPriority)
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}

// Many returns a handler that enqueues what an object leads to, with low priority: the object concerns many.
func Many(of handler.MapFunc) handler.EventHandler {
	h := handler.EnqueueRequestsFromMapFunc(of)
	return handler.Funcs{
		CreateFunc:  func(ctx context.Context, e event.CreateEvent, q Queue) { h.Create(ctx, e, Low(q)) },
		UpdateFunc:  func(ctx context.Context, e event.UpdateEvent, q Queue) { h.Update(ctx, e, Low(q)) },
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q Queue) { h.Delete(ctx, e, Low(q)) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q Queue) { h.Generic(ctx, e, Low(q)) },
	}
}

// Polls is a reconciler whose polls have low priority: what comes later than this. What is requeued sooner keeps the
// priority that it has, as do retries.
func Polls(r reconcile.Reconciler, later time.Duration) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := r.Reconcile(ctx, req)
		if err == nil && res.RequeueAfter > later {
			res.Priority = new(handler.LowPriority)
		}
		return res, err
	})
}
