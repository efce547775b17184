// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A State is the data of the inventory about rollbacks.
type State struct {
	// Data is the snapshot of what was Ready last, or nil.
	Data []byte
	// Atomic is the time that an upgrade may take if the config of an install requests a rollback, or 0 if none does.
	Atomic time.Duration
}

// In returns the state in an observation.
func In(o *engine.Observation) State {
	return State{Data: o.Checkpoint, Atomic: o.Atomic}
}

// Equal reports whether two states are the same.
func (s State) Equal(o State) bool {
	return s.Atomic == o.Atomic && bytes.Equal(s.Data, o.Data)
}

// A Subject is a Manifest in its cluster. A Manifest that is recreated or moves to another cluster is a different subject.
type Subject struct {
	client.ObjectKey

	UID types.UID
	// Cluster identifies the cluster.
	Cluster string
}

// A Memory keeps the states of Manifests between passes. A pass compares them with the inventory, so a Memory can be lost.
type Memory struct {
	by sync.Map // client.ObjectKey to remembered.
}

// A remembered is the state of a subject.
type remembered struct {
	State

	of Subject
}

// Take removes the state of a Manifest from memory, and returns it if it belongs to the subject.
func (m *Memory) Take(s Subject) State {
	v, _ := m.by.LoadAndDelete(s.ObjectKey)
	if r, ok := v.(remembered); ok && r.of == s {
		return r.State
	}
	return State{}
}

// Forget removes the state of a Manifest.
func (m *Memory) Forget(key client.ObjectKey) { m.by.Delete(key) }

// Set stores the state of a Manifest. Most Manifests have none, and need no memory.
func (m *Memory) Set(s Subject, is State) {
	if len(is.Data) == 0 && is.Atomic == 0 {
		m.Forget(s.ObjectKey)
		return
	}
	m.by.Store(s.ObjectKey, remembered{State: is, of: s})
}
