// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// A Tracker records the edits and rollouts that the controllers of Kymas and Manifests report to each other. A nil Tracker is
// empty.
type Tracker struct {
	mu sync.Mutex
	// edits contains the number of the last edit of each Kyma with an edit that was not reconciled yet.
	edits map[types.NamespacedName]uint64
	count uint64
	// rollouts contains the Manifests whose last write was not caused by an edit of their Kyma, until they are Ready.
	rollouts map[types.NamespacedName]bool
}

// NewTracker returns a Tracker without edits and rollouts.
func NewTracker() *Tracker {
	return &Tracker{edits: map[types.NamespacedName]uint64{}, rollouts: map[types.NamespacedName]bool{}}
}

// AddEdit records that a user created, changed or deleted a Kyma.
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

// RemoveEdit removes an edit of a Kyma that was reconciled, unless there was a later one.
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

// StartRollout records that a Manifest is about to be written, and that no edit caused it.
func (t *Tracker) StartRollout(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rollouts[manifest] = true
}

// EndRollout removes a rollout: the Manifest is Ready or deleted, or an edit causes the next write.
func (t *Tracker) EndRollout(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rollouts, manifest)
}

// IsRollingOut reports whether the last write of a Manifest was part of a rollout to many Manifests.
func (t *Tracker) IsRollingOut(manifest types.NamespacedName) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rollouts[manifest]
}
