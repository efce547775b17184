// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// A Tracker has what the controllers of Kymas and Manifests tell each other about edits and rollouts. A nil Tracker knows nothing.
type Tracker struct {
	mu sync.Mutex
	// edits has the number of the last edit of each Kyma with an edit that was not reconciled yet.
	edits map[types.NamespacedName]uint64
	count uint64
	// rollouts are the Manifests whose last write was not caused by an edit of their Kyma, until they are Ready.
	rollouts map[types.NamespacedName]bool
}

// NewTracker returns a Tracker without edits and rollouts.
func NewTracker() *Tracker {
	return &Tracker{edits: map[types.NamespacedName]uint64{}, rollouts: map[types.NamespacedName]bool{}}
}

// AddEdit remembers that a user created, changed or deleted a Kyma.
func (t *Tracker) AddEdit(kyma types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	t.edits[kyma] = t.count
}

// LastEdit returns the number of the last edit of a Kyma that was not reconciled yet, or 0.
func (t *Tracker) LastEdit(kyma types.NamespacedName) uint64 {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.edits[kyma]
}

// RemoveEdit forgets an edit of a Kyma that was reconciled, unless there was a later one.
func (t *Tracker) RemoveEdit(kyma types.NamespacedName, edit uint64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edits[kyma] == edit {
		delete(t.edits, kyma)
	}
}

// StartRollout remembers that a Manifest is about to be written, and that no edit caused it.
func (t *Tracker) StartRollout(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rollouts[manifest] = true
}

// EndRollout forgets a rollout: the Manifest is Ready or deleted, or an edit causes the next write.
func (t *Tracker) EndRollout(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rollouts, manifest)
}

// IsRollingOut reports whether the last write of a Manifest was part of a rollout to many.
func (t *Tracker) IsRollingOut(manifest types.NamespacedName) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rollouts[manifest]
}
