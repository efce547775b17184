// SPDX-License-Identifier: Apache-2.0

package bundle

import "sync"

// maxRemembered bounds the content of the store that is kept in memory, in bytes.
const maxRemembered = 128 << 20

// A cache keeps content that was read from a store, and the digests of tags.
type cache struct {
	// mu guards the fields below.
	mu    sync.Mutex
	known map[string][]byte
	size  int
	// pins holds the digests of tags by repository and tag, so that what is copied and installed is what was verified.
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

// pin records the digest of a tag, unless it is pinned already.
func (c *cache) pin(repository, reference, digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pins[repository+":"+reference]; !ok {
		c.pins[repository+":"+reference] = digest
	}
}

// pinned returns the digest of a tag that is pinned, and any other reference unchanged.
func (c *cache) pinned(repository, reference string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if digest, ok := c.pins[repository+":"+reference]; ok {
		return digest
	}
	return reference
}
