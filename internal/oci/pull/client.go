// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"time"

	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cache"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/chartrepo"
)

const (
	defaultAgent = "provider-kyma"

	// maxTags is how many tags are remembered; each is small.
	maxTags = 4096
)

// A Client pulls content and caches it. It is safe for concurrent use; one is enough for a process. The context
// determines how long a pull may take.
type Client struct {
	limit int64 // Maximum size of a blob, in bytes.
	pool  *oci.Pool
	cache *cache.Cache
	repos *chartrepo.Client
	tags  *lru.Cache // digest of the manifest by Repository.Key of the tag

	observe func(took time.Duration)
}

type config struct {
	dir    string
	size   int64
	limits archive.Limits
	agent  string
	guard  *netguard.Guard

	observe func(took time.Duration)
}

// An Option changes how a Client works.
type Option func(*config)

// WithCacheDir caches on disk, in dir, which is created if needed and may be shared by several processes. The default
// is a cache in memory.
func WithCacheDir(dir string) Option {
	return func(c *config) { c.dir = dir }
}

// WithCacheSize bounds the cache, in bytes; the least recently used content is removed first. The default is 1 GiB on
// disk, or 128 MiB in memory.
func WithCacheSize(bytes int64) Option {
	return func(c *config) { c.size = bytes }
}

// WithLimits limits the size of the content that is pulled, and the memory of all content that is pulled at the same time.
func WithLimits(l archive.Limits) Option {
	return func(c *config) { c.limits = l }
}

// WithUserAgent sets the User-Agent of requests; the default is "provider-kyma".
func WithUserAgent(agent string) Option {
	return func(c *config) { c.agent = agent }
}

// WithGuard sets the guard that opens all connections. The default is the same as in oci.NewPool.
func WithGuard(g *netguard.Guard) Option {
	return func(c *config) { c.guard = g }
}

// WithObserver sets a function that is called at the end of each call, with its duration, even if all content was cached.
func WithObserver(f func(took time.Duration)) Option {
	return func(c *config) { c.observe = f }
}

// New returns a Client. It fails if the cache directory cannot be created.
func New(o ...Option) (*Client, error) {
	c := config{agent: defaultAgent, observe: func(time.Duration) {}}
	for _, f := range o {
		f(&c)
	}
	files, err := cache.New(c.dir, c.size)
	if err != nil {
		return nil, err
	}
	limit := c.limits.WithDefaults().Compressed
	pool := oci.NewPool(c.agent, max(limit, chartrepo.MaxIndex), c.guard)
	pool.Archives, files.Archives = c.limits.Archives, c.limits.Archives
	return &Client{
		limit: limit,
		pool:  pool,
		cache: files,
		repos: chartrepo.New(pool, files, limit),
		tags:  lru.New(maxTags),

		observe: c.observe,
	}, nil
}

// timed begins to measure a call. Call the returned function at its end.
func (c *Client) timed() func() {
	begin := time.Now()
	return func() { c.observe(time.Since(begin)) }
}

// Close closes idle connections. The Client can still be used.
func (c *Client) Close() { c.pool.Close() }
