// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// NewQueue returns a function that creates the queue of a controller. The queue calls observe for each item that it returns, with
// the name of the controller, the name of the item's priority, and how long the item waited since it was due. Items that are tried
// again after a failure are not observed, because their delay is intended.
func NewQueue(
	observe func(controller, priority string, waited time.Duration),
) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
		return &timed{
			PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
			observe:       func(priority string, waited time.Duration) { observe(name, priority, waited) },
			now:           time.Now, due: map[reconcile.Request]time.Time{},
		}
	}
}

// NameOf returns the name of a priority: Low for what was added with Low, and otherwise High.
func NameOf(priority int) string {
	if priority < 0 {
		return "Low"
	}
	return "High"
}

// timed is a queue that measures how long its items wait.
type timed struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	observe func(priority string, waited time.Duration)
	now     func() time.Time

	mu sync.Mutex
	// due contains when each item of the queue is or was due.
	due map[reconcile.Request]time.Time
}

// Add adds an item.
func (q *timed) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item after a delay.
func (q *timed) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item after the delay of the rate limiter.
func (q *timed) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts adds items. An item that is in the queue keeps the earlier time.
func (q *timed) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if !o.RateLimited {
		q.expect(q.now().Add(o.After), items)
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}

func (q *timed) expect(due time.Time, items []reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, item := range items {
		if before, ok := q.due[item]; !ok || due.Before(before) {
			q.due[item] = due
		}
	}
}

// Get returns the next item.
func (q *timed) Get() (item reconcile.Request, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority returns the next item and its priority.
func (q *timed) GetWithPriority() (item reconcile.Request, priority int, shutdown bool) {
	item, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	due, ok := q.due[item]
	delete(q.due, item)
	q.mu.Unlock()
	if ok && !shutdown {
		q.observe(NameOf(priority), max(q.now().Sub(due), 0))
	}
	return item, priority, shutdown
}
