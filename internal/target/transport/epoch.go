// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/connrotation"
)

// Epoch returns a number that increases whenever a different server might respond from then on: when a network connection is opened or
// closed, and when the server is no longer Connected, because a proxy can forward requests to another server after an outage.
func (t *Transport) Epoch() uint64 { return t.changes.Load() + t.outcome.losses() }

// counting returns a function that opens connections with another function, and counts each of them when it is opened and when it is
// closed.
func counting(open connrotation.DialFunc, n *atomic.Uint64) connrotation.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		n.Add(1)
		return &countedConn{Conn: c, closed: sync.OnceFunc(func() { n.Add(1) })}, nil
	}
}

// A countedConn calls closed when it is closed for the first time.
type countedConn struct {
	net.Conn

	closed func()
}

// Close closes the connection.
func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close() //nolint:wrapcheck // It is the error of the connection.
}
