// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// openTime is the maximum duration of an opening. Its parts have shorter limits, except for those of a proxy. Requests wait for an opening, so
// one that is stuck must not delay the next one for long.
const openTime = 25 * time.Second

// An opening opens a connection, because there is none. All requests wait for it: when all watches of a cluster begin again after its connection
// has ended, they must not open a connection each. It does not end with the request that caused it, so that the next one can use the connection of a
// server that is slow.
type opening struct {
	// cancel ends the opening with an error.
	cancel context.CancelFunc
	// done is closed at the end of the opening. The fields below are set before.
	done chan struct{}
	// opened is what sends requests now, if err is nil. It can be a connection that has ended since: its RoundTrip then returns the reason for one of the
	// requests, so that a server that ends each new connection cannot cause more openings than there are requests.
	opened http.RoundTripper
	err    error
}

// open begins an opening. The caller holds mu.
func (p *Pool) open(ctx context.Context) *opening {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), openTime, errSlow)
	o := &opening{cancel: cancel, done: make(chan struct{})}
	p.opening = o
	first := p.built
	p.built = nil
	go func() {
		defer cancel()
		opened, err := panics.Value("the opening of a connection", func() (http.RoundTripper, error) { return p.connect(ctx, first) })
		p.finish(o, opened, err)
	}()
	return o
}

// finish ends an opening, and begins to read from a connection that it opened.
func (p *Pool) finish(o *opening, opened http.RoundTripper, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(o.done)
	p.opening = nil
	c, isConn := opened.(*conn)
	if p.closed {
		err = errPoolClosed
		if isConn {
			go c.net.Close() // It can take a few seconds.
		}
	}
	if o.err = err; err != nil {
		return
	}
	o.opened = opened
	if s, isPlain := opened.(*plain); isPlain {
		p.plain = s
		return
	}
	p.conns = append(p.conns, c)
	go c.run()
}

// connect opens a connection with an http.Transport, or with a new one if it is nil. It returns a *conn or a *plain.
func (p *Pool) connect(ctx context.Context, t *http.Transport) (http.RoundTripper, error) {
	if t == nil {
		var err error
		if t, err = p.build(); err != nil {
			return nil, err
		}
	}
	h, kept := &handover{}, false
	defer func() {
		if raw := h.raw; raw != nil && !kept {
			_ = raw.Close() // An error means that it is closed already.
		}
	}()
	p.offer(t, "h2", "http/1.1")
	if dial := t.DialContext; dial != nil {
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			h.raw = &checkedConn{Conn: c}
			return h.raw, nil
		}
	}
	t.RegisterProtocol("https", h)
	other, err := t.NewClientConn(ctx, "https", p.address)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
			err = cause // The error of the context would be that of a request.
		}
		return nil, err
	}
	if h.conn == nil {
		_ = other.Close() // Only one request at a time could use it.
		return newPlain(p)
	}
	kept = true
	state := h.conn.ConnectionState()
	c := newConn(p, h.conn, &state)
	c.raw, _ = h.conn.NetConn().(*checkedConn) // It is another one if there is a proxy with TLS.
	return c, nil
}

// offer sets the protocols that an http.Transport offers to a server, and how it selects a proxy.
func (p *Pool) offer(t *http.Transport, protocols ...string) {
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.TLSClientConfig.NextProtos = protocols
	// The http.Transport must not use its own HTTP/2.
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if own := t.Proxy; own != nil {
		t.Proxy = func(req *http.Request) (*url.URL, error) {
			// NewClientConn omits the port.
			withPort := req.Clone(req.Context())
			withPort.URL.Host = p.address
			return own(withPort)
		}
	}
}

// A handover takes the HTTP/2 connection that an http.Transport opened. It has the methods that NewClientConn of net/http needs for this.
type handover struct {
	// raw is the network connection that was opened, and conn that for HTTP/2. They can be nil.
	raw  *checkedConn
	conn *tls.Conn
}

// NewClientConn takes a connection. The http.Transport forgets it.
func (h *handover) NewClientConn(c net.Conn, _ func()) (http.RoundTripper, error) {
	var ok bool
	if h.conn, ok = c.(*tls.Conn); !ok {
		return nil, errors.Errorf("a connection of type %T cannot be used for HTTP/2", c)
	}
	return h, nil
}

// The other methods belong to the connection that NewClientConn returns, which is not used.

func (*handover) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, http.ErrSkipAltProtocol
}
func (*handover) Close() error   { return nil }
func (*handover) Err() error     { return nil }
func (*handover) Reserve() error { return nil }
func (*handover) Release()       {}
func (*handover) Available() int { return 0 }
func (*handover) InFlight() int  { return 0 }
