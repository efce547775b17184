// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A checkpoint contains the data of the inventory about rollbacks.
type checkpoint struct {
	// data is the snapshot of what was Ready last, or nil.
	data []byte
	// atomic is the time that an upgrade may take if the config of an install requests a rollback, or 0 if none does.
	atomic time.Duration
}

// checkpointIn returns the checkpoint in an observation.
func checkpointIn(o *engine.Observation) checkpoint {
	return checkpoint{data: o.Checkpoint, atomic: o.Atomic}
}

func (c checkpoint) equal(o checkpoint) bool {
	return c.atomic == o.atomic && bytes.Equal(c.data, o.data)
}

// A subject is a Manifest in its cluster. A Manifest that is recreated or moves to another cluster is a different subject.
type subject struct {
	client.ObjectKey

	uid     types.UID
	cluster string
}

// A memory keeps checkpoints of Manifests between passes. A pass compares them with the inventory, so a memory can be lost.
type memory struct {
	by sync.Map // client.ObjectKey to remembered.
}

// A remembered is the checkpoint of a subject.
type remembered struct {
	checkpoint

	of subject
}

// take removes the checkpoint of a Manifest from memory, and returns it if it belongs to the subject.
func (m *memory) take(s subject) checkpoint {
	v, _ := m.by.LoadAndDelete(s.ObjectKey)
	if r, ok := v.(remembered); ok && r.of == s {
		return r.checkpoint
	}
	return checkpoint{}
}

// forget removes the checkpoint of a Manifest.
func (m *memory) forget(key client.ObjectKey) { m.by.Delete(key) }

// set stores the checkpoint of a Manifest. Most Manifests have none, and need no memory.
func (m *memory) set(s subject, cp checkpoint) {
	if len(cp.data) == 0 && cp.atomic == 0 {
		m.forget(s.ObjectKey)
		return
	}
	m.by.Store(s.ObjectKey, remembered{checkpoint: cp, of: s})
}
