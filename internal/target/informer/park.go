// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// errParked is the error of a kind whose watch was ended by Park after a caller of Track has requested the kind.
var errParked = errors.New("the watches of the cluster were closed a moment ago")

// Park ends all watches and forgets their objects. The next call of Track lists its kinds again. If a kind is being listed or fails, Park
// does nothing and returns false.
func (c *Cache) Park() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		if !k.isSteady() {
			return false
		}
	}
	for _, k := range c.kinds {
		k.park()
	}
	clear(c.kinds)
	return true
}

// isSteady reports whether the kind is in sync or is not watched.
func (k *kind) isSteady() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gvk.Empty() || k.synced && k.err == nil
}

// park ends the watch and forgets the objects. The kind stores nothing from then on.
func (k *kind) park() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stop()
	k.objects.clear()
	k.count()
	k.synced, k.err, k.failed = false, errParked, k.attempt
	k.parked = true
	k.broadcast()
}
