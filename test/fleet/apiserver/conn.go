// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// listenerOf accepts connections that know their cluster after the first message of the TLS handshake.
type listenerOf struct{ net.Listener }

// Accept waits for the next connection.
func (l *listenerOf) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, done: make(chan struct{})}, nil
}

// A conn is a connection to a cluster. Its faults are those of the cluster.
type conn struct {
	net.Conn

	cluster atomic.Pointer[entry]
	once    sync.Once
	done    chan struct{}
}

// Read reads from the connection, unless the cluster is a black hole.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil {
		c.swallow()
	}
	return n, err
}

// Write writes to the connection, perhaps slowly, unless the cluster is a black hole.
func (c *conn) Write(b []byte) (int, error) {
	c.swallow()
	f := c.fault()
	if f.BytesPerSecond == 0 {
		return c.Conn.Write(b)
	}
	const perSecond = 10
	step, n := max(f.BytesPerSecond/perSecond, 1), 0
	for n < len(b) {
		m, err := c.Conn.Write(b[n:min(n+step, len(b))])
		n += m
		if err != nil {
			return n, err
		}
		select {
		case <-time.After(time.Second / perSecond):
		case <-f.ended:
			step = len(b)
		case <-c.done:
			return n, net.ErrClosed
		}
	}
	return n, nil
}

// Close closes the connection.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.done)
		if e := c.cluster.Load(); e != nil {
			e.closed(c)
		}
	})
	return c.Conn.Close()
}

// abort resets the connection.
func (c *conn) abort() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // The connection may be closed.
	}
	return c.Close()
}

func (c *conn) fault() *fault {
	if e := c.cluster.Load(); e != nil {
		return e.now()
	}
	return &fault{}
}

// swallow waits while the cluster is a black hole.
func (c *conn) swallow() {
	for {
		f := c.fault()
		if f.Mode != BlackHole {
			return
		}
		select {
		case <-f.ended:
		case <-c.done:
			return
		}
	}
}

// configFor returns a function that is called when a client selects a cluster. The config of the server always applies, so that its memory is
// shared.
func configFor(s *Server) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c, ok := hello.Conn.(*conn)
		e := s.byServerName(hello.ServerName)
		if !ok || e == nil {
			return nil, errors.Errorf("there is no cluster %q", hello.ServerName)
		}
		if e.now().Mode == Refused {
			return nil, c.abort()
		}
		c.cluster.Store(e)
		e.opened(c)
		c.swallow()
		return nil, nil // The config of the server applies.
	}
}

// certificateFor returns a function that returns the certificate of the cluster that a client selects.
func certificateFor(s *Server) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		e := s.byServerName(hello.ServerName)
		if e == nil {
			return nil, errors.Errorf("there is no cluster %q", hello.ServerName)
		}
		if e.now().Mode == SwappedCertificate {
			return &s.foreign.serving, nil
		}
		return &e.pki.serving, nil
	}
}
