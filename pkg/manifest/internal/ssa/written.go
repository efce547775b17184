// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A Written is an object that a Client applied, created or replaced.
type Written struct {
	GVK schema.GroupVersionKind
	Ref cluster.ObjectRef
	UID string
	// Hash is the hash of the applied object, or empty for a Secret that was not applied.
	Hash string
	// Created is true if the object did not exist before.
	Created bool
	// Used is true if the object was only marked as used.
	Used bool
}

// writes lists the objects that a Client wrote. It is safe for concurrent use.
type writes struct {
	mu  sync.Mutex
	all []Written
}

func (w *writes) add(o Written) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, o)
}

func (w *writes) list() []Written {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}
