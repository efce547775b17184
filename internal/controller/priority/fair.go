// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
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
// controller, the name of the item's priority, and how long the item waited since it was due, including the time until the gate admitted
// it. Items that are tried again after a failure are not observed, because their delay is intended. running receives the priorities of the
// items that have left the queue, until they are done, and gate decides whether they are reconciled. Both may be nil.
func NewQueue(
	observe func(controller, priority string, waited time.Duration), running *Running, gate Gate,
) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) Queue {
		return &fair{
			PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
			limiter:       limiter,
			running:       running,
			gate:          gate,
			observe:       func(priority string, waited time.Duration) { observe(name, priority, waited) },
			now:           time.Now, waits: waits{of: map[reconcile.Request]*wait{}},
		}
	}
}

// A Gate decides which of the objects that leave the queue of a controller are reconciled now.
type Gate interface {
	// Admit reports whether an object is reconciled now. Otherwise, the Gate must queue it again later.
	Admit(nn types.NamespacedName) bool
	// Done is called after the reconcile of an object that was admitted.
	Done(nn types.NamespacedName)
}

// fair is a queue that measures how long its items wait, and limits it.
type fair struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	limiter workqueue.TypedRateLimiter[reconcile.Request]
	running *Running
	gate    Gate
	observe func(priority string, waited time.Duration)
	now     func() time.Time

	mu    sync.Mutex
	waits waits
	// held contains the waits of items that the gate did not admit. It queues them again.
	held map[reconcile.Request]wait
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

// GetWithPriority returns the next item that the gate admits, and its priority.
func (q *fair) GetWithPriority() (item reconcile.Request, priority int, shutdown bool) {
	for {
		w, shutdown := q.next()
		q.running.add(w.item.NamespacedName, w.priority)
		if shutdown || q.gate == nil || q.gate.Admit(w.item.NamespacedName) {
			if !w.retried && !shutdown {
				q.observe(NameOf(w.priority), max(q.now().Sub(w.due), 0))
			}
			return w.item, w.priority, shutdown
		}
		q.hold(w)
		q.done(w.item)
	}
}

// next returns the wait of the next item. One that the gate did not admit before waits since then, and keeps the higher priority.
func (q *fair) next() (w wait, shutdown bool) {
	if item, ok := q.waitsLongest(); ok {
		q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{Priority: new(longest)}, item)
	}
	item, priority, shutdown := q.PriorityQueue.GetWithPriority()
	// The controller keeps the priority for the next time, so it must not be that of the turn.
	w = wait{item: item, priority: min(priority, User), retried: true}
	q.mu.Lock()
	defer q.mu.Unlock()
	if known := q.waits.remove(item); known != nil {
		w = *known
	}
	if before, ok := q.held[item]; ok {
		delete(q.held, item)
		w.priority = max(w.priority, before.priority)
		if !before.retried {
			w.due, w.retried = before.due, false
		}
	}
	return w, shutdown
}

// hold remembers since when an item waits that the gate did not admit.
func (q *fair) hold(w wait) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held == nil {
		q.held = map[reconcile.Request]wait{}
	}
	q.held[w.item] = w
}

// Done marks an item as done.
func (q *fair) Done(item reconcile.Request) {
	if q.gate != nil {
		q.gate.Done(item.NamespacedName)
	}
	q.done(item)
}

func (q *fair) done(item reconcile.Request) {
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
