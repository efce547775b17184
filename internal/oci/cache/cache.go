// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"

	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	defaultDiskSize   = 1 << 30
	defaultMemorySize = 128 << 20

	// maxProofs is how many are remembered; each is small.
	maxProofs = 65536
)

// A store keeps content by its digest, filed under a scope: who delivered it.
// It never returns bytes that do not have the digest, and it may forget. That
// something could not be stored costs a request later, and is not an error.
type store interface {
	get(scope, digest string) ([]byte, bool)
	put(scope, digest string, data []byte)
}

// A Cache serves content to those who may have it. It is safe for concurrent
// use.
type Cache struct {
	store  store
	proofs *lru.Cache // struct{} by Request.Proof
	locks  locks
}

// New returns a cache in the directory dir, which is made if needed and may be
// shared by several processes, or in memory if dir is empty. Size bounds it, in
// bytes; what was not used for longest goes first. The default is 1 GiB on disk,
// or 128 MiB in memory.
func New(dir string, size int64) (*Cache, error) {
	s, err := newStore(dir, size)
	if err != nil {
		return nil, err
	}
	return &Cache{store: s, proofs: lru.New(maxProofs)}, nil
}

func newStore(dir string, size int64) (store, error) {
	if dir == "" {
		if size <= 0 {
			size = defaultMemorySize
		}
		return newMemory(size), nil
	}
	if size <= 0 {
		size = defaultDiskSize
	}
	return newDisk(dir, size)
}

// A Request asks for content of a known digest.
type Request struct {
	Scope  string // Who must have delivered what is taken from the cache.
	Proof  string // Who asks, where and for what.
	Digest string
	Limit  int64

	// May asks whether who asks may have the content. False says that there is no answer to that.
	May func(context.Context) (bool, error)
	// Get returns the content from where it is.
	Get func(context.Context) ([]byte, error)
}

// Content answers q from the cache if it may, and else fills the cache. Equal
// requests wait for each other, so that content is pulled once. A *DigestError
// says that other content was delivered. The caller must not change the bytes.
func (c *Cache) Content(ctx context.Context, q Request) ([]byte, error) {
	unlock, err := c.Lock(ctx, q.Proof)
	if err != nil {
		return nil, err
	}
	defer unlock()

	if data, ok := c.store.get(q.Scope, q.Digest); ok && int64(len(data)) <= q.Limit {
		if _, ok := c.proofs.Get(q.Proof); ok {
			return data, nil
		}
		may, err := q.May(ctx)
		if err != nil {
			return nil, err
		}
		if may {
			c.Prove(q.Proof)
			return data, nil
		}
		// To fetch it once more proves as much.
	}
	data, err := q.Get(ctx)
	if err != nil {
		return nil, err
	}
	if got := oci.DigestOf(data); got != q.Digest {
		return nil, &DigestError{Want: q.Digest, Got: got}
	}
	c.Put(q.Scope, q.Digest, data)
	c.Prove(q.Proof)
	return data, nil
}

// Get returns content to a caller who has a proof of its own that it may have it.
func (c *Cache) Get(scope, digest string) ([]byte, bool) { return c.store.get(scope, digest) }

// Put files content that scope has just delivered.
func (c *Cache) Put(scope, digest string, data []byte) { c.store.put(scope, digest, data) }

// Prove remembers that who asks may have what they ask for; see Request.
func (c *Cache) Prove(proof string) { c.proofs.Add(proof, struct{}{}) }

// Lock waits until no other holds name, and returns the function that unlocks it.
func (c *Cache) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return c.locks.lock(ctx, name)
}

// A DigestError says that something else was delivered than was asked for.
type DigestError struct{ Want, Got string }

// Error is one line.
func (e *DigestError) Error() string {
	return "digest does not match: asked for " + e.Want + ", got " + e.Got
}
