// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// share is how many items leave a queue for each one that is chosen because it waits longest, whatever its priority is.
	share = 8
	// longest is the priority of that item in the queue.
	longest = User + 1
)

// NewQueue returns a function that creates the queue of a controller. Items leave it by their priority, but every eighth item is the
// one that waits longest, so that none waits forever. The queue calls observe for each item that leaves it, with the name of the
// controller, the name of the item's priority, and how long the item waited since it was due. Items that are tried again after a
// failure are not observed, because their delay is intended. running receives the priorities of the items that have left the queue, until
// they are done. It may be nil.
func NewQueue(
	observe func(controller, priority string, waited time.Duration), running *Running,
) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
		return &fair{
			PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
			limiter:       limiter,
			running:       running,
			observe:       func(priority string, waited time.Duration) { observe(name, priority, waited) },
			now:           time.Now, waits: waits{of: map[reconcile.Request]*wait{}},
		}
	}
}

// fair is a queue that measures how long its items wait, and limits it.
type fair struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	limiter workqueue.TypedRateLimiter[reconcile.Request]
	running *Running
	observe func(priority string, waited time.Duration)
	now     func() time.Time

	mu    sync.Mutex
	waits waits
	// taken is the number of items that were requested.
	taken uint
}

// Add adds an item.
func (q *fair) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter adds an item after a delay.
func (q *fair) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited adds an item after the delay of the rate limiter.
func (q *fair) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts adds items. An item that is in the queue keeps the earlier time and the higher priority.
func (q *fair) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	priority := User
	if o.Priority != nil {
		priority = *o.Priority
	}
	if !o.RateLimited {
		q.expect(wait{due: q.now().Add(o.After), priority: priority}, items...)
		q.PriorityQueue.AddWithOpts(o, items...)
		return
	}
	for _, item := range items {
		// As in the queue itself, which would not return the delay.
		after := q.limiter.When(item)
		if o.After > 0 {
			after = min(after, o.After)
		}
		q.expect(wait{due: q.now().Add(after), priority: priority, retried: true}, item)
		q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: o.Priority}, item)
	}
}

func (q *fair) expect(w wait, items ...reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, item := range items {
		w.item = item
		q.waits.add(w)
	}
}

// Get returns the next item.
func (q *fair) Get() (item reconcile.Request, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority returns the next item and its priority.
func (q *fair) GetWithPriority() (item reconcile.Request, priority int, shutdown bool) {
	if item, ok := q.waitsLongest(); ok {
		q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{Priority: new(longest)}, item)
	}
	item, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	w := q.waits.remove(item)
	q.mu.Unlock()
	// The controller keeps the priority for the next time, so it must not be that of the turn.
	priority = min(priority, User)
	if w != nil {
		priority = w.priority
	}
	if w != nil && !w.retried && !shutdown {
		q.observe(NameOf(priority), max(q.now().Sub(w.due), 0))
	}
	q.running.add(item.NamespacedName, priority)
	return item, priority, shutdown
}

// Done marks an item as done.
func (q *fair) Done(item reconcile.Request) {
	q.running.remove(item.NamespacedName)
	q.PriorityQueue.Done(item)
}

// waitsLongest returns the item that waits longest, if it is its turn.
func (q *fair) waitsLongest() (reconcile.Request, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken++; q.taken%share != 0 {
		return reconcile.Request{}, false
	}
	w := q.waits.first(q.now())
	if w == nil {
		return reconcile.Request{}, false
	}
	return w.item, true
}
