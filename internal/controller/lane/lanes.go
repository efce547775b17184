// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Lanes are what the controllers of Kymas and of Manifests tell each other. Of nil nothing is known.
type Lanes struct {
	mu sync.Mutex
	// edits of each Kyma that no pass has carried out yet, counted.
	edits map[types.NamespacedName]uint64
	count uint64
	// rolling are the Manifests that were written last for another reason than an edit of their Kyma, until they are Ready.
	rolling map[types.NamespacedName]bool
}

// New lanes, in which nothing was edited and nothing rolls.
func New() *Lanes {
	return &Lanes{edits: map[types.NamespacedName]uint64{}, rolling: map[types.NamespacedName]bool{}}
}

// Edit says that a user has made, changed or deleted a Kyma.
func (l *Lanes) Edit(kyma types.NamespacedName) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.edits[kyma] = l.count
}

// Edited returns the last edit of a Kyma that was not carried out yet; 0 for none.
func (l *Lanes) Edited(kyma types.NamespacedName) uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.edits[kyma]
}

// CarriedOut says that an edit of a Kyma is carried out. One that came later is not.
func (l *Lanes) CarriedOut(kyma types.NamespacedName, edit uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edits[kyma] == edit {
		delete(l.edits, kyma)
	}
}

// Roll says that a Manifest is about to be written, and that no edit is the reason.
func (l *Lanes) Roll(manifest types.NamespacedName) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rolling[manifest] = true
}

// Settle says that a Manifest has arrived, or goes, or is about to be written for an edit.
func (l *Lanes) Settle(manifest types.NamespacedName) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.rolling, manifest)
}

// Rolling says whether what happens to a Manifest is part of what happens to a fleet.
func (l *Lanes) Rolling(manifest types.NamespacedName) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rolling[manifest]
}
