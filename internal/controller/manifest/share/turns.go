// SPDX-License-Identifier: Apache-2.0

package share

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// mostLooks limits how many namespaces, and how many ProviderConfigs of each, are considered for a free worker. The next call considers
// others.
const mostLooks = 32

// spareTurns is the number of Manifests that no longer wait from which they are removed from a queue.
const spareTurns = 32

// turns contains the Manifests that wait for a worker. Namespaces take turns, and so do the ProviderConfigs of a namespace.
type turns struct {
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

func newTurns() *turns {
	return &turns{namespaces: map[string]*waiting{}, places: map[types.NamespacedName]place{}}
}

// add adds a Manifest, unless it waits already.
func (t *turns) add(nn types.NamespacedName, at place) {
	if before, ok := t.places[nn]; ok {
		if before == at {
			return
		}
		t.drop(nn)
	}
	w := t.namespaces[at.namespace]
	if w == nil {
		w = &waiting{queue: map[string][]types.NamespacedName{}}
		t.namespaces[at.namespace] = w
		t.order = append(t.order, at.namespace)
	}
	queue, ok := w.queue[at.config]
	if !ok {
		w.order = append(w.order, at.config)
	}
	if len(queue) > 2*w.count+spareTurns {
		// Most of them no longer wait, for example because they were deleted.
		queue = slices.DeleteFunc(queue, func(nn types.NamespacedName) bool { return t.places[nn] != at })
	}
	w.queue[at.config] = append(queue, nn)
	t.places[nn] = at
	if w.count++; w.count == 1 {
		t.active++
	}
}

// drop removes a Manifest that no longer waits.
func (t *turns) drop(nn types.NamespacedName) {
	at, ok := t.places[nn]
	if !ok {
		return
	}
	delete(t.places, nn)
	if w := t.namespaces[at.namespace]; w.count == 1 {
		w.count, t.active = 0, t.active-1
	} else {
		w.count--
	}
}

// others returns the number of namespaces with Manifests that wait, without one namespace.
func (t *turns) others(namespace string) int {
	if w := t.namespaces[namespace]; w != nil && w.count > 0 {
		return t.active - 1
	}
	return t.active
}

// next removes and returns the next Manifest that can get a worker.
func (t *turns) next(admitted func(place) bool) (types.NamespacedName, bool) {
	looks := 0
	for left := len(t.order); left > 0 && looks < mostLooks; left-- {
		namespace := t.order[0]
		w := t.namespaces[namespace]
		t.order = t.order[1:]
		if w.count == 0 {
			delete(t.namespaces, namespace)
			continue
		}
		t.order = append(t.order, namespace)
		looks++
		if nn, ok := t.nextOf(namespace, w, admitted); ok {
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// nextOf is next for one namespace.
func (t *turns) nextOf(namespace string, w *waiting, admitted func(place) bool) (types.NamespacedName, bool) {
	looks := 0
	for left := len(w.order); left > 0 && looks < mostLooks; left-- {
		at := place{namespace: namespace, config: w.order[0]}
		w.order = w.order[1:]
		if !t.waits(w, at) {
			delete(w.queue, at.config)
			continue
		}
		w.order = append(w.order, at.config)
		looks++
		if admitted(at) {
			nn := w.queue[at.config][0]
			t.drop(nn)
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// waits reports whether a Manifest with a ProviderConfig still waits. It removes those before it from the queue.
func (t *turns) waits(w *waiting, at place) bool {
	for list := w.queue[at.config]; len(list) > 0; list = list[1:] {
		w.queue[at.config] = list
		if t.places[list[0]] == at {
			return true
		}
	}
	return false
}
