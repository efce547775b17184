// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Running contains the priorities of the objects of a controller that are being reconciled. The zero value is empty.
type Running struct {
	mu sync.Mutex
	of map[types.NamespacedName]int
}

// Of returns the priority of an object, or User if it is not being reconciled.
func (r *Running) Of(nn types.NamespacedName) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[nn]
}

func (r *Running) add(nn types.NamespacedName, priority int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[types.NamespacedName]int{}
	}
	r.of[nn] = priority
}

func (r *Running) remove(nn types.NamespacedName) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, nn)
}
