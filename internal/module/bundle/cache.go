// SPDX-License-Identifier: Apache-2.0

package bundle

import "sync"

// maxRemembered bounds what is kept of the store, in bytes.
const maxRemembered = 128 << 20

// A cache remembers what was read of a store, and what tags were.
type cache struct {
	// mu guards what follows.
	mu    sync.Mutex
	known map[string][]byte
	size  int
	// pins are the digests that tags had, by repository and tag: what was verified is what is copied and installed.
	pins map[string]string
}

func newCache() *cache {
	return &cache{known: map[string][]byte{}, pins: map[string]string{}}
}

func (c *cache) remember(digest string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[digest]; ok || c.size+len(data) > maxRemembered {
		return
	}
	c.known[digest] = data
	c.size += len(data)
}

func (c *cache) remembered(digest string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.known[digest]
	return data, ok
}

// pin the digest of a tag, unless it is pinned.
func (c *cache) pin(repository, reference, digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pins[repository+":"+reference]; !ok {
		c.pins[repository+":"+reference] = digest
	}
}

// pinned returns the digest of a tag that was asked for before, and all else as it is.
func (c *cache) pinned(repository, reference string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if digest, ok := c.pins[repository+":"+reference]; ok {
		return digest
	}
	return reference
}
