// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

const (
	// maxServers bounds the pooled transports; the least recently used one is closed.
	maxServers = 64

	// maxClients bounds the logins that are kept.
	maxClients = 256

	handshakeTimeout = 10 * time.Second
	headerTimeout    = 30 * time.Second
	idleTimeout      = 60 * time.Second
	maxIdle          = 4
	maxConns         = 16
)

// A Pool reads from registries and web servers, and reuses connections and logins. It is safe for concurrent use; one
// is enough for a process. The context determines how long a request may take.
type Pool struct {
	// Pauses are the delays before each retry of a failed request. Set them before the first request.
	Pauses []time.Duration
	// Archives bounds the memory of bodies while they are read. Nil means unbounded. Set it before the first request.
	Archives *decoding.Archives

	agent string
	limit int64
	guard *netguard.Guard

	// patience is how long a server may take to respond.
	patience time.Duration

	// mu guards adding to wires.
	mu    sync.Mutex
	wires *lru.Cache // *wire by endpoint.wire

	clients *lru.Cache // *login by endpoint.wire, endpoint.caller, repository and action
}

// NewPool returns a Pool. agent is the User-Agent of requests, and limit is the maximum size of a body in bytes. The guard
// opens all connections. If it is nil, the pool works for the user of this process: registries can also refer to private
// networks.
func NewPool(agent string, limit int64, g *netguard.Guard) *Pool {
	if g == nil {
		g = netguard.New(netguard.Options{Allow: netguard.Private()})
	}
	return &Pool{
		guard:    g,
		Pauses:   []time.Duration{100 * time.Millisecond, 400 * time.Millisecond},
		agent:    agent,
		limit:    limit,
		patience: headerTimeout,
		wires:    lru.NewWithEvictionFunc(maxServers, closeWire),
		clients:  lru.New(maxClients),
	}
}

func closeWire(_ lru.Key, w any) {
	w.(*wire).next.CloseIdleConnections() //nolint:forcetypeassert // Only wires are added.
}

// Close closes idle connections. The Pool can still be used.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Clear calls the eviction function for each entry.
	p.wires.Clear()
	p.clients.Clear()
}

// wire returns the transport to the server of e, the same for every caller: connections carry no credentials of their
// own.
func (p *Pool) wire(e *endpoint) (*wire, error) {
	// Two concurrent misses would otherwise open two transports, and one would never be closed.
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.wires.Get(e.wire); ok {
		return t.(*wire), nil //nolint:forcetypeassert // Only this method adds to wires.
	}
	//nolint:gosec // Certificates are not checked where a person at a command line asks for that.
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: e.insecure}
	if len(e.ca) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(e.ca) {
			return nil, errors.Errorf("the CA bundle of registry host %q contains no PEM certificate", e.host)
		}
		c.RootCAs = pool
	}
	w := &wire{
		host:   e.host,
		scheme: e.scheme,
		agent:  p.agent,
		limit:  p.limit + 1,
		dialer: p.guard.Dialer(e.trust),
		tokens: e.tokens,
		listed: e.listed,

		referred: e.referred,
	}
	w.next = &http.Transport{
		Proxy:                 w.proxy,
		DialContext:           w.dial,
		TLSClientConfig:       c,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   handshakeTimeout,
		ResponseHeaderTimeout: p.patience,
		IdleConnTimeout:       idleTimeout,
		MaxIdleConns:          maxIdle,
		MaxConnsPerHost:       maxConns,
		// Digests cover the stored bytes.
		DisableCompression: true,
	}
	p.wires.Add(e.wire, w)
	return w, nil
}

// retry calls f again after a failure that may be transient.
func (p *Pool) retry(ctx context.Context, f func() error) error {
	for i := 0; ; i++ {
		err := f()
		if err == nil || i >= len(p.Pauses) || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(p.Pauses[i]):
		}
	}
}
