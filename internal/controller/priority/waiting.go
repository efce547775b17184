// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"container/heap"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A wait is that of an item in a queue.
type wait struct {
	item reconcile.Request
	// due is when the item can leave the queue, and priority is its highest priority.
	due      time.Time
	priority int
	// retried means that a failure is the reason of the delay.
	retried bool
	index   int
}

// waits are the waits of all items in a queue. The one that is due first is found quickly.
type waits struct {
	of    map[reconcile.Request]*wait
	order order
}

// add adds the wait of an item. An item that already waits keeps the earlier time and the higher priority.
func (w *waits) add(a wait) {
	is, ok := w.of[a.item]
	if !ok {
		w.of[a.item] = &a
		heap.Push(&w.order, &a)
		return
	}
	is.priority = max(is.priority, a.priority)
	if a.due.Before(is.due) {
		is.due, is.retried = a.due, a.retried
		heap.Fix(&w.order, is.index)
	}
}

// remove removes the wait of an item and returns it, or nil.
func (w *waits) remove(item reconcile.Request) *wait {
	is, ok := w.of[item]
	if !ok {
		return nil
	}
	delete(w.of, item)
	heap.Remove(&w.order, is.index)
	return is
}

// first returns the wait that is due first, or nil if none is due yet.
func (w *waits) first(now time.Time) *wait {
	if len(w.order) == 0 || w.order[0].due.After(now) {
		return nil
	}
	return w.order[0]
}

// order implements heap.Interface.
type order []*wait

// Len returns the number of waits.
func (o *order) Len() int { return len(*o) }

// Less reports whether a wait is due before another.
func (o *order) Less(i, j int) bool { return (*o)[i].due.Before((*o)[j].due) }

// Swap swaps two waits.
func (o *order) Swap(i, j int) {
	(*o)[i], (*o)[j] = (*o)[j], (*o)[i]
	(*o)[i].index, (*o)[j].index = i, j
}

// Push adds a *wait at the end.
func (o *order) Push(x any) {
	if w, ok := x.(*wait); ok {
		w.index = len(*o)
		*o = append(*o, w)
	}
}

// Pop removes the last *wait.
func (o *order) Pop() any {
	last := len(*o) - 1
	w := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return w
}
