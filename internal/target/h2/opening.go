// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"net/http"
	"net/http/httptrace"
)

// openerKey is the key of contexts of requests that open a connection.
type openerKey struct{}

// An opening is a request that opens a connection, because there is none. Other requests wait for it: an http.Transport would open a connection for
// each of them, and close all but one, when all watches of a cluster begin again after its connection has ended.
type opening struct {
	// address is the host and port of the server.
	address string
	// done is closed at the end of the opening. The fields below are set before.
	done chan struct{}
	// plain is true if the server does not support HTTP/2, so that each request needs a connection of its own.
	plain bool
	// err is not nil if the connection could not be opened.
	err error
}

// findOrOpen returns a connection on which a stream can be opened. Without one, it returns the opening that is in progress, or a new one and true.
// The caller must open the connection then.
func (p *Pool) findOrOpen(address string) (*conn, *opening, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.findLocked(address); c != nil {
		return c, nil, false
	}
	if o := p.openings[address]; o != nil {
		return nil, o, false
	}
	if p.openings == nil {
		p.openings = map[string]*opening{}
	}
	o := &opening{address: address, done: make(chan struct{})}
	p.openings[address] = o
	return nil, o, true
}

// open sends a request through the http.Transport, which opens a connection for it.
func (p *Pool) open(req *http.Request, o *opening) (*http.Response, error) {
	var err error
	defer func() {
		if req.Context().Err() != nil {
			err = nil // Another request can open the connection.
		}
		p.opened(o, false, err)
	}()
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		// The end of the opening comes before this, unless the connection has no HTTP/2.
		GotConn: func(httptrace.GotConnInfo) { p.opened(o, true, nil) },
	})
	resp, err := p.transport.RoundTrip(req.WithContext(context.WithValue(ctx, openerKey{}, true)))
	if err != nil {
		// Another request can use the connection that the http.Transport may still be opening.
		return nil, err
	}
	if resp.ProtoMajor == 2 {
		// The http.Transport must forget the connection, because this pool has it. Thousands of transports would keep a map with one connection.
		p.transport.CloseIdleConnections()
	}
	resp.Request = req
	return resp, nil
}

// opened ends an opening, unless it has ended.
func (p *Pool) opened(o *opening, plain bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.plain = false // The opening ended when it got a connection, which has failed.
	}
	p.openedLocked(o, plain, err)
}

// openedLocked is like opened for a caller that holds mu.
func (p *Pool) openedLocked(o *opening, plain bool, err error) {
	if o == nil || p.openings[o.address] != o {
		return
	}
	if delete(p.openings, o.address); len(p.openings) == 0 {
		p.openings = nil // Connections stay open for a long time, so that thousands of pools must not keep an empty map.
	}
	o.plain, o.err = plain, err
	p.plain = p.plain || plain
	close(o.done)
}

// wait waits for the end of an opening. It returns http.ErrSkipAltProtocol if the request needs a connection of its own, and nil if it can try
// to find one again.
func (o *opening) wait(ctx context.Context) error {
	select {
	case <-o.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if o.plain {
		return http.ErrSkipAltProtocol
	}
	return o.err
}
