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
