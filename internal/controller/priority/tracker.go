// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// A Tracker records what the controllers of Kymas and Manifests report to each other: the edits of Kymas, and why Manifests were
// written. A nil Tracker is empty.
type Tracker struct {
	mu sync.Mutex
	// edits contains the last edit of each Kyma with an edit that was not reconciled yet.
	edits map[types.NamespacedName]Edit
	count uint64
	// causes contains the priorities of the Manifests that a Kyma has written, until they are Ready.
	causes map[types.NamespacedName]int
}

// An Edit is a change of a Kyma by a user.
type Edit struct {
	// Number is its number, from 1. It is 0 if there is none.
	Number uint64
	// Priority is User, or Install if the Kyma is new.
	Priority int
}

// NewTracker returns an empty Tracker.
func NewTracker() *Tracker {
	return &Tracker{edits: map[types.NamespacedName]Edit{}, causes: map[types.NamespacedName]int{}}
}

// AddEdit records that a user created a Kyma, with the priority Install, or changed or deleted it, with the priority User.
func (t *Tracker) AddEdit(kyma types.NamespacedName, priority int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.edits[kyma]; before.Number != 0 {
		priority = max(priority, before.Priority)
	}
	t.count++
	t.edits[kyma] = Edit{Number: t.count, Priority: priority}
}

// LastEdit returns the last edit of a Kyma that was not reconciled yet, with the highest priority of all such edits.
func (t *Tracker) LastEdit(kyma types.NamespacedName) Edit {
	if t == nil {
		return Edit{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.edits[kyma]
}

// PriorityOf returns the priority of the last edit of a Kyma, or otherwise if all of them were reconciled.
func (t *Tracker) PriorityOf(kyma types.NamespacedName, otherwise int) int {
	if edit := t.LastEdit(kyma); edit.Number != 0 {
		return edit.Priority
	}
	return otherwise
}

// RemoveEdit removes an edit of a Kyma that was reconciled, unless there was a later one.
func (t *Tracker) RemoveEdit(kyma types.NamespacedName, number uint64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edits[kyma].Number == number {
		delete(t.edits, kyma)
	}
}

// SetCause records the priority of a Manifest that is about to be written.
func (t *Tracker) SetCause(manifest types.NamespacedName, priority int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.causes[manifest] = priority
}

// RemoveCause forgets the priority of a Manifest, which is Ready or deleted.
func (t *Tracker) RemoveCause(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.causes, manifest)
}

// Cause returns the priority with which a Manifest was written last, or otherwise if it is Ready, or if no Kyma has written it.
func (t *Tracker) Cause(manifest types.NamespacedName, otherwise int) int {
	if t == nil {
		return otherwise
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if priority, ok := t.causes[manifest]; ok {
		return priority
	}
	return otherwise
}
