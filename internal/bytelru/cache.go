// SPDX-License-Identifier: Apache-2.0

package bytelru

import (
	"container/list"
	"math"
	"runtime/debug"
	"sync"
)

// perEntry is the size of an entry without its key and value, in bytes.
const perEntry = 256

// A Cache contains the most recently used values. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	limit int64
	usage *usage

	mu      sync.Mutex
	size    int64
	order   *list.List // of *entry, the most recently used one first
	entries map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New returns a cache of at most limit bytes. Usages counts the use of all caches of the process that have the same name together.
func New[K comparable, V any](name string, limit int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, usage: usageOf(name), order: list.New(), entries: map[K]*list.Element{}}
}

// planned is the memory limit of the process for which the sizes of caches are designed, and which a process without a limit counts as having.
const planned = 2 << 30

// Scaled returns the limit of a cache that can take most bytes in a process with a memory limit of 2 GiB. It is in proportion to the memory limit of
// the process, so that a larger fleet, which needs a higher limit, has larger caches.
func Scaled(most int64) int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = planned
	}
	return int64(float64(most) * float64(limit) / planned)
}

// Get returns the value of a key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		c.usage.misses.Add(1)
		return *new(V), false
	}
	c.usage.hits.Add(1)
	c.order.MoveToFront(e)
	return c.entryOf(e).value, true
}

// Add adds or replaces the value of a key, and measures both. It does not add values that are larger than half of the cache,
// because they would displace most others.
func (c *Cache[K, V]) Add(key K, value V) {
	c.AddSized(key, value, SizeOf(key, c.limit)+SizeOf(value, c.limit))
}

// AddSized is like Add, but takes the size of the key and the value in bytes.
func (c *Cache[K, V]) AddSized(key K, value V, size int64) {
	size += perEntry
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
	if size > c.limit/2 {
		return
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key: key, value: value, size: size})
	c.usage.bytes.Add(size)
	for c.size += size; c.size > c.limit; {
		c.remove(c.order.Back())
	}
}

// Remove removes a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
}

// Size returns the size of all entries in bytes.
func (c *Cache[K, V]) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// remove removes an element. The caller holds the lock.
func (c *Cache[K, V]) remove(e *list.Element) {
	old := c.entryOf(e)
	c.order.Remove(e)
	delete(c.entries, old.key)
	c.size -= old.size
	c.usage.bytes.Add(-old.size)
}

func (c *Cache[K, V]) entryOf(e *list.Element) *entry[K, V] {
	return e.Value.(*entry[K, V]) //nolint:forcetypeassert // The list has only entries.
}
