// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"sync"
	"time"

	"k8s.io/utils/lru"
)

const (
	defaultDiskSize   = 1 << 30
	defaultMemorySize = 128 << 20
	defaultAgent      = "provider-kyma"

	// What is remembered in memory, in entries; each is small but an index.
	maxClients = 256
	maxProofs  = 65536
	maxTags    = 4096
	maxIndexes = 16
)

// Limits bound what is read. A field that is not positive has its default.
type Limits struct {
	Compressed   int64 // Bytes of a blob or an archive as it is pulled; default 64 MiB.
	Uncompressed int64 // Bytes of an unpacked tar, its headers included; default 512 MiB.
	Files        int   // Entries of an archive, folders included; default 10,000.
}

// DefaultLimits returns the limits that apply where none are given.
func DefaultLimits() Limits {
	return Limits{Compressed: 64 << 20, Uncompressed: 512 << 20, Files: 10_000}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Compressed > 0 {
		d.Compressed = l.Compressed
	}
	if l.Uncompressed > 0 {
		d.Uncompressed = l.Uncompressed
	}
	if l.Files > 0 {
		d.Files = l.Files
	}
	return d
}

// A Puller pulls content and caches it. It is safe for concurrent use; one is
// enough for a process. How long a pull may take is up to the context.
type Puller struct {
	limits Limits
	agent  string
	store  store
	pauses []time.Duration

	// patience is how long a server may think before it answers.
	patience time.Duration

	// mu guards adding to wires.
	mu    sync.Mutex
	wires *lru.Cache // *wire by endpoint.server

	clients *lru.Cache // *client by endpoint.caller and repository
	proofs  *lru.Cache // struct{} by endpoint.caller, place and digest
	tags    *lru.Cache // digest of the manifest by endpoint.caller, repository and tag
	indexes *lru.Cache // *cachedIndex by endpoint.caller and URL
	charts  *lru.Cache // *cachedChart by endpoint.caller and URL
	pulls   locks
}

type config struct {
	dir    string
	size   int64
	limits Limits
	agent  string
}

// An Option changes how a Puller works.
type Option func(*config)

// WithCacheDir caches on disk, in dir, which is made if needed and may be
// shared by several processes. The default is a cache in memory.
func WithCacheDir(dir string) Option {
	return func(c *config) { c.dir = dir }
}

// WithCacheSize bounds the cache, in bytes; what was not used for longest goes
// first. The default is 1 GiB on disk, or 128 MiB in memory.
func WithCacheSize(bytes int64) Option {
	return func(c *config) { c.size = bytes }
}

// WithLimits bounds what is pulled.
func WithLimits(l Limits) Option {
	return func(c *config) { c.limits = l }
}

// WithUserAgent is how requests name this program; default "provider-kyma".
func WithUserAgent(agent string) Option {
	return func(c *config) { c.agent = agent }
}

// NewPuller returns a Puller. It fails if the cache folder cannot be made.
func NewPuller(o ...Option) (*Puller, error) {
	c := config{agent: defaultAgent}
	for _, f := range o {
		f(&c)
	}
	s, err := c.store()
	if err != nil {
		return nil, err
	}
	return &Puller{
		limits: c.limits.withDefaults(),
		agent:  c.agent,
		store:  s,
		pauses: []time.Duration{100 * time.Millisecond, 400 * time.Millisecond},

		patience: headerTimeout,
		wires:    lru.NewWithEvictionFunc(maxServers, closeWire),
		clients:  lru.New(maxClients),
		proofs:   lru.New(maxProofs),
		tags:     lru.New(maxTags),
		indexes:  lru.New(maxIndexes),
		charts:   lru.New(maxTags),
	}, nil
}

func closeWire(_ lru.Key, w any) {
	w.(*wire).next.CloseIdleConnections() //nolint:forcetypeassert // Only wires are added.
}

func (c *config) store() (store, error) {
	if c.dir == "" {
		if c.size <= 0 {
			c.size = defaultMemorySize
		}
		return newMemory(c.size), nil
	}
	if c.size <= 0 {
		c.size = defaultDiskSize
	}
	return newDisk(c.dir, c.size)
}

// Close closes idle connections. The Puller can still be used.
func (p *Puller) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Clearing calls the eviction function for each.
	p.wires.Clear()
	p.clients.Clear()
}
