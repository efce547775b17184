// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"math"
	"runtime/debug"
	"sync"
)

// The budget of ScaledBudget is budgetShare sixteenths of the memory limit of the process, or budgetDefault bytes if there is no limit.
const (
	budgetShare   = 3
	budgetDefault = 1 << 30
)

// A Budget limits the memory that the caches of all clusters use together. If they use too much, the caches that use most of it may not
// grow, and drop what changes, so that the caches of other clusters aren't affected. It is safe for concurrent use.
type Budget struct {
	most   int64
	report func(bytes int64)

	mu    sync.Mutex
	used  int64
	sizes map[*Cache]int64
}

// NewBudget returns a budget of a number of bytes. The function is called with the number of used bytes when it changes. It must not
// block.
func NewBudget(most int64, report func(bytes int64)) *Budget {
	return &Budget{most: most, report: report, sizes: map[*Cache]int64{}}
}

// ScaledBudget returns a budget of three sixteenths of the memory limit of the process, or of 1 GiB if there is no limit.
func ScaledBudget(report func(bytes int64)) *Budget {
	most := int64(budgetDefault)
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		most = limit / 16 * budgetShare
	}
	return NewBudget(most, report)
}

// WithBudget sets the budget that the cache shares with others. By default, only its Limits apply.
func WithBudget(b *Budget) Option {
	return func(c *Cache) { c.budget = b }
}

// join adds a cache.
func (b *Budget) join(c *Cache) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sizes[c] = 0
}

// leave removes a cache.
func (b *Budget) leave(c *Cache) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= b.sizes[c]
	delete(b.sizes, c)
	b.report(b.used)
}

// set sets the size of a cache, unless it has left.
func (b *Budget) set(c *Cache, size int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, joined := b.sizes[c]
	if !joined || before == size {
		return
	}
	b.sizes[c] = size
	b.used += size - before
	b.report(b.used)
}

// exceeds reports whether a cache must not have a size: all caches together are too large, and would still be too large if each of them
// had at most this size. Therefore, the largest ones are refused first, and a cache with less than its part never is.
func (b *Budget) exceeds(c *Cache, size int64) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used-b.sizes[c]+size <= b.most || size*int64(len(b.sizes)) <= b.most {
		return false
	}
	sum := size
	for other, n := range b.sizes {
		if other != c {
			sum += min(n, size)
		}
	}
	return sum > b.most
}
