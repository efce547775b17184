// SPDX-License-Identifier: Apache-2.0

package share

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// maxCandidates limits how many namespaces, and how many ProviderConfigs of each, are considered for a free worker. The next call
// considers others.
const maxCandidates = 32

// spareEntries is the number of Manifests that no longer wait from which they are removed from a queue.
const spareEntries = 32

// A fairQueue contains the Manifests that wait for a worker. Namespaces take turns, and so do the ProviderConfigs of a namespace.
type fairQueue struct {
	// order contains each namespace of namespaces once. active is the number of those in which a Manifest still waits.
	order      []string
	namespaces map[string]*waiting
	active     int
	// places contains the place of each Manifest that waits. A Manifest that is only in a queue no longer waits.
	places map[types.NamespacedName]place
}

// waiting contains the Manifests of a namespace that wait.
type waiting struct {
	order []string
	queue map[string][]types.NamespacedName
	// count is the number of Manifests that still wait.
	count int
}

func newFairQueue() *fairQueue {
	return &fairQueue{namespaces: map[string]*waiting{}, places: map[types.NamespacedName]place{}}
}

// add adds a Manifest, unless it waits already.
func (q *fairQueue) add(nn types.NamespacedName, at place) {
	if before, ok := q.places[nn]; ok {
		if before == at {
			return
		}
		q.drop(nn)
	}
	w := q.namespaces[at.namespace]
	if w == nil {
		w = &waiting{queue: map[string][]types.NamespacedName{}}
		q.namespaces[at.namespace] = w
		q.order = append(q.order, at.namespace)
	}
	queue, ok := w.queue[at.config]
	if !ok {
		w.order = append(w.order, at.config)
	}
	if len(queue) > 2*w.count+spareEntries {
		// Most of them no longer wait, for example because they were deleted.
		queue = slices.DeleteFunc(queue, func(nn types.NamespacedName) bool { return q.places[nn] != at })
	}
	w.queue[at.config] = append(queue, nn)
	q.places[nn] = at
	if w.count++; w.count == 1 {
		q.active++
	}
}

// drop removes a Manifest that no longer waits.
func (q *fairQueue) drop(nn types.NamespacedName) {
	at, ok := q.places[nn]
	if !ok {
		return
	}
	delete(q.places, nn)
	if w := q.namespaces[at.namespace]; w.count == 1 {
		w.count, q.active = 0, q.active-1
	} else {
		w.count--
	}
}

// others returns the number of namespaces with Manifests that wait, without one namespace.
func (q *fairQueue) others(namespace string) int {
	if w := q.namespaces[namespace]; w != nil && w.count > 0 {
		return q.active - 1
	}
	return q.active
}

// next removes and returns the next Manifest that can get a worker.
func (q *fairQueue) next(admitted func(place) bool) (types.NamespacedName, bool) {
	candidates := 0
	for left := len(q.order); left > 0 && candidates < maxCandidates; left-- {
		namespace := q.order[0]
		w := q.namespaces[namespace]
		q.order = q.order[1:]
		if w.count == 0 {
			delete(q.namespaces, namespace)
			continue
		}
		q.order = append(q.order, namespace)
		candidates++
		if nn, ok := q.nextOf(namespace, w, admitted); ok {
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// nextOf is next for one namespace.
func (q *fairQueue) nextOf(namespace string, w *waiting, admitted func(place) bool) (types.NamespacedName, bool) {
	candidates := 0
	for left := len(w.order); left > 0 && candidates < maxCandidates; left-- {
		at := place{namespace: namespace, config: w.order[0]}
		w.order = w.order[1:]
		if !q.waits(w, at) {
			delete(w.queue, at.config)
			continue
		}
		w.order = append(w.order, at.config)
		candidates++
		if admitted(at) {
			nn := w.queue[at.config][0]
			q.drop(nn)
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// waits reports whether a Manifest with a ProviderConfig still waits. It removes those before it from the queue.
func (q *fairQueue) waits(w *waiting, at place) bool {
	for list := w.queue[at.config]; len(list) > 0; list = list[1:] {
		w.queue[at.config] = list
		if q.places[list[0]] == at {
			return true
		}
	}
	return false
}
