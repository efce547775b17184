// SPDX-License-Identifier: Apache-2.0

package share

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// maxCandidates limits how many namespaces, and how many ProviderConfigs of each priority, are considered for a free worker. The next
// call considers others.
const maxCandidates = 32

// spareEntries is the number of Manifests that no longer wait from which they are removed from a queue.
const spareEntries = 32

// turnLength is how many Manifests of a ProviderConfig get a worker in one turn. The modules of a cluster are then processed at about the
// same time, so the status of their Kyma is written less often.
const turnLength = 4

// maxStarted limits how many ProviderConfigs of a priority are in the middle of their turns. The turns of others have one Manifest.
const maxStarted = 16

// maxResumable limits how many ProviderConfigs of a namespace can resume their turns, and maxResumed how many of a priority have resumed them.
// maxResumptions is how often one can, before others get theirs.
const (
	maxResumable   = 256
	maxResumed     = 16
	maxResumptions = 3
)

// reverseEvery is how many Manifests of a namespace get a worker for each one for which the lowest priority comes first.
const reverseEvery = 8

// A fairQueue contains the Manifests that wait for a worker. Namespaces take turns. The Manifests of a namespace wait by their priorities,
// and the ProviderConfigs of those with the same priority take turns of up to turnLength Manifests. A turn that ended because a Manifest had to
// wait is resumed when the Manifest is back: otherwise, the network connection that it waited for would be closed again before its next turn.
type fairQueue struct {
	// order contains each namespace of namespaces once. active is the number of those in which a Manifest still waits.
	order      []string
	namespaces map[string]*waiting
	active     int
	// spots contains where each Manifest waits. A Manifest that is only in a queue no longer waits.
	spots map[types.NamespacedName]spot
}

// A spot is where a Manifest waits.
type spot struct {
	place

	priority int
}

// waiting contains the Manifests of a namespace that wait.
type waiting struct {
	// levels has the queues of each priority, the highest first.
	levels []*level
	// count is the number of Manifests that still wait, and turns the number of those that got a worker.
	count, turns int
	// resumable has the ProviderConfigs, at most maxResumable, whose turns have ended early, until their next ordinary turn.
	resumable []resumable
}

// A level contains the Manifests of a namespace that wait with the same priority.
type level struct {
	priority int
	order    []string
	queue    map[string][]types.NamespacedName
	// started has the ProviderConfigs that are in the middle of their turns: at most maxStarted, and maxResumed that have resumed them.
	started []started
}

// started is a ProviderConfig with the number of Manifests that are left in its turn. If it is not ordered, it is added to the order of its level
// after its turn.
type started struct {
	config           string
	left             int
	ordered, resumed bool
}

// resumable is a ProviderConfig with the number of times that it has resumed its turn. It can resume it when waits is true, and the Manifest that
// waited is back.
type resumable struct {
	config   string
	manifest types.NamespacedName
	times    int
	waits    bool
}

func newFairQueue() *fairQueue {
	return &fairQueue{namespaces: map[string]*waiting{}, spots: map[types.NamespacedName]spot{}}
}

// add adds a Manifest, unless it waits already. A Manifest that waits keeps the higher priority.
func (q *fairQueue) add(nn types.NamespacedName, at place, priority int) {
	if before, ok := q.spots[nn]; ok {
		if before.place == at && before.priority >= priority {
			return
		}
		q.drop(nn)
	}
	w := q.namespaces[at.namespace]
	if w == nil {
		w = &waiting{}
		q.namespaces[at.namespace] = w
		q.order = append(q.order, at.namespace)
	}
	s, l := spot{place: at, priority: priority}, w.level(priority)
	queue, ok := l.queue[at.config]
	resumed := w.resume(nn, at.config, l, ok)
	if !ok && !resumed {
		l.order = append(l.order, at.config)
	}
	if len(queue) > 2*w.count+spareEntries {
		// Most of them no longer wait, for example because they were deleted.
		queue = slices.DeleteFunc(queue, func(nn types.NamespacedName) bool { return q.spots[nn] != s })
	}
	if queue = append(queue, nn); resumed {
		// The others have not waited for the connection yet.
		copy(queue[1:], queue)
		queue[0] = nn
	}
	l.queue[at.config] = queue
	q.spots[nn] = s
	if w.count++; w.count == 1 {
		q.active++
	}
}

// resume resumes the turn of a ProviderConfig, if it has ended early because of a Manifest. Ordered is true if the ProviderConfig is in the order of the
// level, unless it has started a turn.
func (w *waiting) resume(nn types.NamespacedName, config string, l *level, ordered bool) bool {
	i := w.resumableAt(config)
	if i < 0 || l.startedAt(config) >= 0 || l.count(true) >= maxResumed {
		return false
	}
	r := &w.resumable[i]
	if !r.waits || r.manifest != nn || r.times >= maxResumptions {
		return false
	}
	r.waits = false
	r.times++
	l.started = append(l.started, started{config: config, left: turnLength, ordered: ordered, resumed: true})
	return true
}

// resumableAt returns the index of a ProviderConfig in resumable, or -1.
func (w *waiting) resumableAt(config string) int {
	return slices.IndexFunc(w.resumable, func(r resumable) bool { return r.config == config })
}

// count returns the number of ProviderConfigs in the middle of turns that they have or have not resumed.
func (l *level) count(resumed bool) int {
	n := 0
	for i := range l.started {
		if l.started[i].resumed == resumed {
			n++
		}
	}
	return n
}

// startedAt returns the index of a ProviderConfig in started, or -1.
func (l *level) startedAt(config string) int {
	return slices.IndexFunc(l.started, func(s started) bool { return s.config == config })
}

// level returns the queues of a priority.
func (w *waiting) level(priority int) *level {
	i, ok := slices.BinarySearchFunc(w.levels, priority, func(l *level, p int) int { return cmp.Compare(p, l.priority) })
	if !ok {
		w.levels = slices.Insert(w.levels, i, &level{priority: priority, queue: map[string][]types.NamespacedName{}})
	}
	return w.levels[i]
}

// drop removes a Manifest that no longer waits.
func (q *fairQueue) drop(nn types.NamespacedName) {
	at, ok := q.spots[nn]
	if !ok {
		return
	}
	delete(q.spots, nn)
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
	levels := slices.Values(w.levels)
	if w.turns%reverseEvery == reverseEvery-1 {
		levels = func(yield func(*level) bool) {
			for _, l := range slices.Backward(w.levels) {
				if !yield(l) {
					return
				}
			}
		}
	}
	for l := range levels {
		if nn, ok := q.nextIn(namespace, w, l, admitted); ok {
			w.turns++
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// nextIn is next for one priority of a namespace.
func (q *fairQueue) nextIn(namespace string, w *waiting, l *level, admitted func(place) bool) (types.NamespacedName, bool) {
	if nn, ok := q.nextStarted(namespace, l, admitted); ok {
		return nn, true
	}
	candidates := 0
	for left := len(l.order); left > 0 && candidates < maxCandidates; left-- {
		config := l.order[0]
		l.order = l.order[1:]
		if i := l.startedAt(config); i >= 0 {
			l.started[i].ordered = false // It gets its next turn after this one.
			continue
		}
		nn, ok, waits := q.take(spot{place: place{namespace: namespace, config: config}, priority: l.priority}, l, admitted)
		if !waits {
			continue
		}
		candidates++
		if i := w.resumableAt(config); ok && i >= 0 {
			w.resumable = slices.Delete(w.resumable, i, i+1)
		}
		if ok && l.count(false) < maxStarted {
			l.started = append(l.started, started{config: config, left: turnLength - 1})
			return nn, true
		}
		l.order = append(l.order, config)
		if ok {
			return nn, true
		}
	}
	return types.NamespacedName{}, false
}

// endTurn ends the turns of a ProviderConfig, because a Manifest has to wait, and the next ones would have to wait too. They are resumed when the Manifest is
// added again.
func (q *fairQueue) endTurn(nn types.NamespacedName, at place) {
	w := q.namespaces[at.namespace]
	if w == nil {
		return
	}
	for _, l := range w.levels {
		if i := l.startedAt(at.config); i >= 0 {
			l.endTurn(i)
		}
	}
	if i := w.resumableAt(at.config); i >= 0 {
		if r := &w.resumable[i]; !r.waits {
			r.waits, r.manifest = true, nn
		}
		return
	}
	if len(w.resumable) == maxResumable {
		i := max(0, slices.IndexFunc(w.resumable, func(r resumable) bool { return !r.waits }))
		w.resumable = slices.Delete(w.resumable, i, i+1)
	}
	w.resumable = append(w.resumable, resumable{config: at.config, manifest: nn, waits: true})
}

// settle records that a Manifest did not have to wait, so that its ProviderConfig has no turn to resume because of it.
func (q *fairQueue) settle(nn types.NamespacedName, at place) {
	w := q.namespaces[at.namespace]
	if w == nil {
		return
	}
	if i := w.resumableAt(at.config); i >= 0 && w.resumable[i].manifest == nn {
		w.resumable[i].waits = false
	}
}

// endTurn ends the turn of the ProviderConfig at an index of started.
func (l *level) endTurn(i int) {
	if s := l.started[i]; !s.ordered {
		l.order = append(l.order, s.config)
	}
	l.started = slices.Delete(l.started, i, i+1)
}

// nextStarted is nextIn for the ProviderConfigs that are in the middle of their turns.
func (q *fairQueue) nextStarted(namespace string, l *level, admitted func(place) bool) (types.NamespacedName, bool) {
	for i := 0; i < len(l.started); {
		s := &l.started[i]
		nn, ok, waits := q.take(spot{place: place{namespace: namespace, config: s.config}, priority: l.priority}, l, admitted)
		switch {
		case !waits:
			if s.ordered {
				l.queue[s.config] = nil // As long as it is in order, it is not added again.
			}
			l.started = slices.Delete(l.started, i, i+1)
			continue
		case !ok:
			i++
			continue
		}
		if s.left--; s.left == 0 {
			l.endTurn(i)
		}
		return nn, true
	}
	return types.NamespacedName{}, false
}

// take removes and returns the first Manifest with a ProviderConfig that waits in a level, if it can get a worker. It reports whether one
// waits at all, and removes the queue of the ProviderConfig if none does.
func (q *fairQueue) take(at spot, l *level, admitted func(place) bool) (nn types.NamespacedName, ok, waits bool) {
	if !q.waits(l, at) {
		delete(l.queue, at.config)
		return nn, false, false
	}
	if !admitted(at.place) {
		return nn, false, true
	}
	// If the Manifest waits again, it comes after the others, unless its turn is resumed.
	nn, l.queue[at.config] = l.queue[at.config][0], l.queue[at.config][1:]
	q.drop(nn)
	return nn, true, true
}

// waits reports whether a Manifest with a ProviderConfig still waits. It removes those before it from the queue.
func (q *fairQueue) waits(l *level, at spot) bool {
	for list := l.queue[at.config]; len(list) > 0; list = list[1:] {
		l.queue[at.config] = list
		if q.spots[list[0]] == at {
			return true
		}
	}
	return false
}
