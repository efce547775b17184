// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"net"
	"net/http"
	"time"
)

// plainTime is how long a server is used without HTTP/2 before this is negotiated again. The server can be a load balancer whose backends differ.
const plainTime = 10 * time.Minute

// A plain sends requests to a server without HTTP/2.
type plain struct {
	pool      *Pool
	transport *http.Transport
	// until is the time from which no new requests are sent with it.
	until time.Time
}

// newPlain returns a plain. It opens connections when they are needed.
func newPlain(p *Pool) (*plain, error) {
	t, err := p.build()
	if err != nil {
		return nil, err
	}
	p.offer(t, "http/1.1")
	if dial := t.DialContext; dial != nil {
		// The http.Transport sends some requests again when their connections are closed.
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err == nil && p.isClosed() {
				_ = c.Close() // Nothing was sent on it.
				return nil, errPoolClosed
			}
			return c, err
		}
	}
	return &plain{pool: p, transport: t, until: time.Now().Add(plainTime)}, nil
}

// RoundTrip sends a request. If it fails, the next request opens a connection again, because the server may support HTTP/2 then. But if the request
// ends first, the next one can use the connection that is opened for this one.
func (s *plain) RoundTrip(req *http.Request) (*http.Response, error) {
	if b, ok := req.Body.(*trackedBody); ok {
		// The http.Transport repeats requests itself. It sends small bodies of known types together with the headers.
		original := *req
		original.Body = b.ReadCloser
		req = &original
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		s.pool.mu.Lock()
		if s.pool.plain == s {
			s.pool.plain = nil
		}
		s.pool.mu.Unlock()
		s.transport.CloseIdleConnections()
	}
	return resp, err
}
