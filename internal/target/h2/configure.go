// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Pool contains the HTTP/2 connections of one http.Transport.
type Pool struct {
	// compression is true if responses can be compressed.
	compression bool
	// idle is the time after which a connection without streams is closed, or 0. After ping without a frame, the connection is tested,
	// and after lost without a response, it is closed.
	idle, ping, lost time.Duration
	// transport opens the connections.
	transport *http.Transport

	mu    sync.Mutex
	conns []*conn
	// openings are the requests that open connections, by the addresses of the servers.
	openings map[string]*opening
	// plain is true if the server responds without HTTP/2.
	plain bool
}

// Configure makes a transport use this package for HTTP/2. It reads the timeouts for idle connections and for pings, and whether
// compression is disabled, and wraps DialContext. Call it before the first request. The transport must have a TLS config, which Configure
// changes.
func Configure(t *http.Transport) *Pool {
	p := &Pool{compression: !t.DisableCompression, idle: t.IdleConnTimeout, transport: t}
	if t.HTTP2 != nil {
		p.ping, p.lost = t.HTTP2.SendPingTimeout, t.HTTP2.PingTimeout
	}
	t.TLSClientConfig.NextProtos = []string{"h2", "http/1.1"}
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{
		"h2": func(address string, c *tls.Conn) http.RoundTripper { return p.add(address, c) },
	}
	t.RegisterProtocol("https", p)
	dial := t.DialContext
	if dial == nil {
		return p
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &checkedConn{Conn: c}, nil
	}
	return p
}

// RoundTrip sends a request on an existing connection. If there is none, the http.Transport opens one for the first request, and others wait for
// it. The http.Transport does not find existing connections: it usually forgets them when they have been opened.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if ctx.Value(openerKey{}) != nil {
		return nil, http.ErrSkipAltProtocol
	}
	for address := addressOf(req.URL); ; {
		c, o, first := p.findOrOpen(address)
		if first {
			return p.open(req, o)
		}
		if c != nil {
			resp, err := c.RoundTrip(req)
			if err == errUnused { //nolint:errorlint // It is not wrapped.
				return nil, http.ErrSkipAltProtocol
			}
			return resp, err
		}
		if err := o.wait(ctx); err != nil {
			if err != http.ErrSkipAltProtocol && hasBody(req) { //nolint:errorlint // It is not wrapped.
				if closing := req.Body.Close(); closing != nil {
					err = errors.Join(err, closing)
				}
			}
			return nil, err
		}
	}
}

// addressOf returns the address of a server as an http.Transport writes it.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// findLocked returns a connection on which a stream can be opened, or nil. The caller holds mu.
func (p *Pool) findLocked(address string) *conn {
	for _, c := range p.conns {
		if c.address == address && c.available() {
			return c
		}
	}
	return nil
}

// add adds a connection. If there is another one that can be used, for example because a request was canceled while it opened a connection, and
// another one has opened one too, it closes the new one.
func (p *Pool) add(address string, c *tls.Conn) http.RoundTripper {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.openedLocked(p.openings[address], false, nil) }()
	p.plain = false
	if have := p.findLocked(address); have != nil {
		go c.Close() // It can take a few seconds.
		return have
	}
	state := c.ConnectionState()
	fresh := newConn(p, c, &state)
	fresh.address = address
	fresh.raw, _ = c.NetConn().(*checkedConn) // It is another one if there is a proxy with TLS.
	p.conns = append(p.conns, fresh)
	go fresh.run()
	return fresh
}

// remove removes a connection that has ended.
func (p *Pool) remove(c *conn) {
	p.mu.Lock()
	p.conns = slices.DeleteFunc(p.conns, func(other *conn) bool { return other == c })
	p.mu.Unlock()
	if p.transport != nil {
		// It can know the connection if a request has opened it without this pool, and would never forget it by itself.
		p.transport.CloseIdleConnections()
	}
}
