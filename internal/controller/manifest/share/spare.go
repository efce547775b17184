// SPDX-License-Identifier: Apache-2.0

package share

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"
)

const (
	// longPass is the duration from which a pass is long.
	longPass = time.Second
	// sparePerWorker is how many long passes there can be for each worker.
	sparePerWorker = 3
)

// Concurrent returns the options of a controller whose passes get their workers from Shares: it can run long passes in addition to one for each
// worker.
func Concurrent(o controller.Options) controller.Options {
	o.MaxConcurrentReconciles *= 1 + sparePerWorker
	return o
}

// A spare counts the long passes that need no worker.
type spare struct {
	total int
	// used is the number of those of each namespace.
	used map[string]int
	// awaited is true if Manifests that wait are woken when the next pass becomes long.
	awaited bool
}

// take counts a long pass of a namespace, unless there are already as many as the limits allow.
func (s *spare) take(namespace string, l limits) bool {
	if s.total >= l.spare || s.used[namespace] >= l.spareOfNamespace {
		return false
	}
	s.total++
	s.used[namespace]++
	return true
}

// giveBack removes a long pass of a namespace.
func (s *spare) giveBack(namespace string) {
	s.total--
	if s.used[namespace]--; s.used[namespace] == 0 {
		delete(s.used, namespace)
	}
}

// untilLong returns how much time is left until a pass becomes long. It returns false if it never does: a worker that is kept for a Manifest has no
// pass yet, and the passes that were expected to be slow have their own limits. The caller holds mu.
func (s *Shares) untilLong(w *Worker, now time.Time) (time.Duration, bool) {
	if w.long || w.expected == slow || s.turns[w.nn] == w {
		return 0, false
	}
	return max(0, longPass-now.Sub(w.since)), true
}

// findLong takes the workers of the passes that have become long. The caller holds mu.
func (s *Shares) findLong(now time.Time) {
	for _, w := range s.running {
		if left, ok := s.untilLong(w, now); ok && left == 0 {
			w.long = s.spare.take(w.at.namespace, s.limits)
		}
	}
}

// awaitLong wakes Manifests that wait, if there are any, when the next pass becomes long. The caller holds mu.
func (s *Shares) awaitLong(now time.Time) {
	if s.spare.awaited || s.waiting.active == 0 {
		return
	}
	next := time.Duration(0)
	for _, w := range s.running {
		if left, ok := s.untilLong(w, now); ok && left > 0 && (next == 0 || left < next) {
			next = left
		}
	}
	if next == 0 {
		return
	}
	s.spare.awaited = true
	s.later(next, func() {
		s.mu.Lock()
		s.spare.awaited = false
		now := s.now()
		woken := s.turnsAt(now)
		s.awaitLong(now)
		s.mu.Unlock()
		s.wakeAll(woken)
	})
}
