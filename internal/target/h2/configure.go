// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"crypto/tls"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A pool contains the connections of one http.Transport.
type pool struct {
	// compression is true if responses can be compressed.
	compression bool
	// idle is the time after which a connection without streams is closed, or 0. After ping without a frame, the connection is tested,
	// and after lost without a response, it is closed.
	idle, ping, lost time.Duration

	mu    sync.Mutex
	conns []*conn
}

// Configure makes a transport use this package for HTTP/2. It reads the timeouts for idle connections and for pings, and whether
// compression is disabled. Call it before the first request. The transport must have a TLS config, which Configure changes.
func Configure(t *http.Transport) {
	p := &pool{compression: !t.DisableCompression, idle: t.IdleConnTimeout}
	if t.HTTP2 != nil {
		p.ping, p.lost = t.HTTP2.SendPingTimeout, t.HTTP2.PingTimeout
	}
	t.TLSClientConfig.NextProtos = []string{"h2", "http/1.1"}
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{
		"h2": func(_ string, c *tls.Conn) http.RoundTripper { return p.add(c) },
	}
}

// add adds a connection. If there is another one that can be used, for example because several requests opened connections at the same
// time, it closes the new one.
func (p *pool) add(c *tls.Conn) http.RoundTripper {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, have := range p.conns {
		if have.available() {
			go c.Close() //nolint:errcheck // It can take a few seconds, and the connection is not used.
			return have
		}
	}
	state := c.ConnectionState()
	fresh := newConn(p, c, &state)
	p.conns = append(p.conns, fresh)
	go fresh.run()
	return fresh
}

func (p *pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(other *conn) bool { return other == c })
}
