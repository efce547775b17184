// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A MovedError reports a kind that the cluster does not serve in the requested version, but in another one. Objects that were applied in
// the requested version still exist.
type MovedError struct {
	// Requested and Served are the kind in the requested version and in a served one.
	Requested, Served schema.GroupVersionKind

	mapping cluster.Mapping
}

// Error returns a message that names the kind and both versions.
func (e *MovedError) Error() string {
	return fmt.Sprintf("the cluster serves kind %s in %s, and no longer in %s", e.Requested.Kind, e.Served.GroupVersion(), e.Requested.GroupVersion())
}

// Retryable returns true, because discovery may lag behind a CRD.
func (e *MovedError) Retryable() bool { return true }

// moves contains the results of moved by kind. It is safe for concurrent use.
type moves struct {
	mu  sync.Mutex
	all map[schema.GroupVersionKind]*MovedError
}

func (m *moves) get(gvk schema.GroupVersionKind) (*MovedError, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.all[gvk]
	return e, known
}

func (m *moves) set(gvk schema.GroupVersionKind, e *MovedError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[schema.GroupVersionKind]*MovedError{}
	}
	m.all[gvk] = e
}
