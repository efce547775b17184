// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/net/idna"
)

// A Pool is an http.RoundTripper for the requests to one server. It contains the connections to this server.
type Pool struct {
	// address is the host and port of the server.
	address string
	// build returns an http.Transport that opens connections.
	build func() (*http.Transport, error)
	// compression is true if responses can be compressed.
	compression bool
	// idle is the time after which a connection without streams is closed, or 0. After ping without a frame, the connection is tested,
	// and after lost without a response, it is closed.
	idle, ping, lost time.Duration

	mu    sync.Mutex
	conns []*conn
	// plain is not nil if the server does not support HTTP/2.
	plain *plain
	// opening is not nil while a connection is opened.
	opening *opening
	// built is the http.Transport for the first opening, and nil after that.
	built *http.Transport
	// closed is true after Close.
	closed bool
}

// New returns a Pool for the server of a URL. The function build returns a new http.Transport, with a TLS config of its own, at each call. New calls it
// once, and RoundTrip later, when it opens a connection, but never at the same time. Both return its errors. The Pool reads the timeouts for
// idle connections and for pings, and whether compression is disabled, from the first http.Transport. The other settings decide how connections are opened.
func New(server *url.URL, build func() (*http.Transport, error)) (*Pool, error) {
	t, err := build()
	if err != nil {
		return nil, err
	}
	p := &Pool{address: addressOf(server), build: build, compression: !t.DisableCompression, idle: t.IdleConnTimeout, built: t}
	if t.HTTP2 != nil {
		p.ping, p.lost = t.HTTP2.SendPingTimeout, t.HTTP2.PingTimeout
	}
	return p, nil
}

// RoundTrip sends a request on an existing connection. If there is none, it waits until one is open. If the server did not process the request, RoundTrip
// sends it again on another connection, unless its body was read and cannot be read again. It returns an error for a request to
// another server. Trailers of requests, and headers that HTTP/2 does not have, such as Upgrade, are not sent over HTTP/2.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := validate(req, p.address); err != nil {
		return nil, failed(req, err)
	}
	next := withBody(req, req.Body)
	for {
		connection, err := p.connection(req.Context())
		if err != nil {
			return nil, failed(next, err)
		}
		resp, err := connection.RoundTrip(next)
		if err == nil {
			resp.Request = req
			return resp, nil
		}
		if err != errUnused { //nolint:errorlint // It is not wrapped.
			return nil, err
		}
		if next, err = again(next); err != nil {
			return nil, err
		}
	}
}

// addressOf returns the address of a server, host:port. A host that is not ASCII is in Punycode, as in its certificate.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	host := u.Hostname()
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil { // Otherwise, it cannot be resolved.
			host = ascii
		}
	}
	return net.JoinHostPort(host, port)
}

// connection returns what sends a request: a connection on which a stream can be opened, or one that was just opened, or a plain. It waits until there is one.
func (p *Pool) connection(ctx context.Context) (http.RoundTripper, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errPoolClosed
	}
	if i := slices.IndexFunc(p.conns, (*conn).available); i >= 0 {
		defer p.mu.Unlock()
		return p.conns[i], nil
	}
	if s := p.plain; s != nil {
		if time.Now().Before(s.until) {
			p.mu.Unlock()
			return s, nil
		}
		p.plain = nil
		defer s.transport.CloseIdleConnections()
	}
	o := p.opening
	if o == nil {
		o = p.open(ctx)
	}
	p.mu.Unlock()
	select {
	case <-o.done:
		return o.opened, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// remove removes a connection that has ended.
func (p *Pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(other *conn) bool { return other == c })
}

// Close closes the connections for HTTP/2, and ends their requests. New requests return an error that wraps net.ErrClosed. Requests that are running without
// HTTP/2 continue on their connections, but no others are opened for them.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	conns, s, o := slices.Clone(p.conns), p.plain, p.opening
	p.mu.Unlock()
	if o != nil {
		o.cancel()
	}
	if s != nil {
		s.transport.CloseIdleConnections()
	}
	for _, c := range conns {
		if c.raw != nil {
			_ = c.raw.Close() // TLS would wait until it has sent an alert.
		}
		c.fail(errPoolClosed)
	}
}

// isClosed reports whether Close was called.
func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// IsOpen reports whether a connection is open, or the server responded without HTTP/2 when it was last used.
func (p *Pool) IsOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plain != nil || slices.ContainsFunc(p.conns, (*conn).isOpen)
}
