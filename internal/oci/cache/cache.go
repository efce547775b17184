// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	defaultDiskSize   = 1 << 30
	defaultMemorySize = 128 << 20

	// maxGrants is how many grants are remembered; each is small.
	maxGrants = 65536
)

// A store keeps content by its digest, under a scope: the server or URL that delivered it. It never returns bytes
// that do not have the digest, and it may drop content. Failing to store content costs a request later and is not an
// error.
type store interface {
	// size returns the memory that get allocates, in bytes.
	size(scope, digest string) int64
	get(scope, digest string) ([]byte, bool)
	put(scope, digest string, data []byte)
}

// A Cache serves content to callers that may have it. It is safe for concurrent use.
type Cache struct {
	// Archives bounds the memory of content that is read from the disk. Nil means unbounded. Set it before the first call.
	Archives *decoding.Archives

	store  store
	grants *grants
	locks  locks
}

// New returns a cache in the directory dir, which is created if needed and may be shared by several processes, or in
// memory if dir is empty. size bounds the cache, in bytes; the least recently used content is removed first. The
// default is 1 GiB on disk, or 128 MiB in memory.
func New(dir string, size int64) (*Cache, error) {
	s, err := newStore(dir, size)
	if err != nil {
		return nil, err
	}
	return &Cache{store: s, grants: newGrants(maxGrants, time.Now)}, nil
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

// A Request is a request for content of a known digest.
type Request struct {
	Scope  string // Server or URL that must have delivered the cached content.
	Grant  Grant  // Caller, location and content of the request.
	Digest string
	Limit  int64

	// May reports whether the caller may have the content. False means that the server does not support this check.
	May func(context.Context) (bool, error)
	// Get fetches the content from its source.
	Get func(context.Context) ([]byte, error)
}

// Content returns the content of q from the cache if the caller is allowed to have it, and otherwise fetches and caches it.
// Equal requests wait for each other, so that content is pulled once. It returns a *DigestError if the server delivers
// different content. If the server rejects the credentials, all grants of the caller are dropped. The caller must not change
// the bytes.
func (c *Cache) Content(ctx context.Context, q Request) ([]byte, error) {
	unlock, err := c.Lock(ctx, q.Grant.Caller+" "+q.Grant.Content)
	if err != nil {
		return nil, err
	}
	defer unlock()
	data, err := c.content(ctx, q)
	c.Refused(q.Grant.Caller, err)
	return data, err
}

func (c *Cache) content(ctx context.Context, q Request) ([]byte, error) {
	data, taken, err := c.load(ctx, q.Scope, q.Digest, q.Limit)
	if err != nil {
		return nil, err
	}
	if data != nil {
		if c.grants.has(q.Grant) {
			return data, nil
		}
		may, err := q.May(ctx)
		if err != nil {
			return nil, err
		}
		if may {
			c.Allow(q.Grant)
			return data, nil
		}
		// Fetching it again gives the same grant.
		c.Archives.Give(ctx, taken)
	}
	data, err = q.Get(ctx)
	if err != nil {
		return nil, err
	}
	if got := oci.DigestOf(data); got != q.Digest {
		return nil, &DigestError{Want: q.Digest, Got: got}
	}
	c.Put(q.Scope, q.Digest, data)
	c.Allow(q.Grant)
	return data, nil
}

// Get returns the cached content of at most limit bytes, if any, to a caller that already has a grant. It waits until there is memory
// for it.
func (c *Cache) Get(ctx context.Context, scope, digest string, limit int64) ([]byte, bool, error) {
	data, _, err := c.load(ctx, scope, digest, limit)
	return data, data != nil, err
}

// load returns the cached content of at most limit bytes, or nil, and the memory that it took for it.
func (c *Cache) load(ctx context.Context, scope, digest string, limit int64) (data []byte, taken int64, err error) {
	taken = c.store.size(scope, digest)
	if taken > limit {
		return nil, 0, nil
	}
	if err := c.Archives.Take(ctx, taken); err != nil {
		return nil, 0, err
	}
	data, ok := c.store.get(scope, digest)
	if !ok || int64(len(data)) > limit {
		c.Archives.Give(ctx, taken)
		return nil, 0, nil
	}
	return data, taken, nil
}

// Put stores content that scope has just delivered.
func (c *Cache) Put(scope, digest string, data []byte) { c.store.put(scope, digest, data) }

// Allow records, for one hour, that a caller is allowed to have some content.
func (c *Cache) Allow(g Grant) { c.grants.add(g) }

// Refused drops the grants of a caller if err means that the server rejects its credentials.
func (c *Cache) Refused(caller string, err error) {
	if code := oci.Status(err); code == http.StatusUnauthorized || code == http.StatusForbidden {
		c.grants.drop(caller)
	}
}

// Lock waits until no other caller holds name, and returns the function that unlocks it.
func (c *Cache) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return c.locks.lock(ctx, name)
}

// A DigestError reports that the delivered content is not the requested content.
type DigestError struct{ Want, Got string }

// Error returns both digests in one line.
func (e *DigestError) Error() string {
	return "digest mismatch: expected " + e.Want + ", got " + e.Got
}
