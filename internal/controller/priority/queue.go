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

// Low returns a queue that adds items with low priority, unless they are in the queue with a higher one. If q has no
// priorities, Low returns q.
func Low(q Queue) Queue {
	if p, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return low{p}
	}
	return q
}

// LowIf returns a queue that adds items with low priority if waits is true, and q otherwise.
func LowIf(q Queue, waits bool) Queue {
	if waits {
		return Low(q)
	}
	return q
}

type low struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// Add adds an item.
func (q low) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item after a delay.
func (q low) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item after the delay of the rate limiter.
func (q low) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts adds items, with low priority unless the options set a priority.
func (q low) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if o.Priority == nil {
		o.Priority = new(handler.LowPriority)
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}

// LowHandler returns a handler that enqueues the requests of an object that concerns many resources, with low priority.
func LowHandler(of handler.MapFunc) handler.EventHandler {
	h := handler.EnqueueRequestsFromMapFunc(of)
	return handler.Funcs{
		CreateFunc:  func(ctx context.Context, e event.CreateEvent, q Queue) { h.Create(ctx, e, Low(q)) },
		UpdateFunc:  func(ctx context.Context, e event.UpdateEvent, q Queue) { h.Update(ctx, e, Low(q)) },
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q Queue) { h.Delete(ctx, e, Low(q)) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q Queue) { h.Generic(ctx, e, Low(q)) },
	}
}

// LowPolls returns a reconciler whose polls have low priority. A poll is a request that r requeues after a delay longer than
// later. Other requests, and retries, keep their priority.
func LowPolls(r reconcile.Reconciler, later time.Duration) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := r.Reconcile(ctx, req)
		if err == nil && res.RequeueAfter > later {
			res.Priority = new(handler.LowPriority)
		}
		return res, err
	})
}
