// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"sync"
	"time"

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

// A memory holds the checkpoints of Manifests between passes. Each pass compares what it takes with the inventory, so the
// memory can be lost at any time.
type memory struct {
	by sync.Map // client.ObjectKey to checkpoint.
}

// take removes the checkpoint of a Manifest from memory and returns it.
func (m *memory) take(key client.ObjectKey) checkpoint {
	v, _ := m.by.LoadAndDelete(key)
	cp, _ := v.(checkpoint)
	return cp
}

// set stores the checkpoint of a Manifest. Most Manifests have none, and need no memory.
func (m *memory) set(key client.ObjectKey, cp checkpoint) {
	if len(cp.data) == 0 && cp.atomic == 0 {
		m.by.Delete(key)
		return
	}
	m.by.Store(key, cp)
}
