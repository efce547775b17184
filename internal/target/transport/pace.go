// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/connrotation"
)

const (
	// paceBurst is the number of bytes that the provider reads from an API server as fast as it sends them: the first lists of 50,000
	// objects of 5 KiB. paceRate is how many more it reads per second. With it, the largest response arrives within the 15 seconds that
	// a request may take, and the response to a probe within two, although other data precedes it. An event of a few hundred bytes takes
	// tens of microseconds, so a server that sends events without an end uses less than half of a CPU.
	paceBurst = 256 << 20
	paceRate  = 5 << 19
	// pacedRead is the maximum number of bytes of a read, so that the data of different connections takes turns.
	pacedRead = 64 << 10
)

// A pace bounds what is read from all network connections to one server, and from all servers of its tenant. Reading late makes the server wait,
// so nothing is lost.
type pace struct {
	limit  *rate.Limiter
	tenant *Tenant
	// waited is called with the time of each wait; optional.
	waited func(time.Duration)
	// slowed is called when a read has to wait because of this server, at most once per hour; optional.
	slowed func()

	mu   sync.Mutex
	next time.Time // of slowed
}

func newPace(o Options) *pace {
	return &pace{limit: rate.NewLimiter(paceRate, paceBurst), tenant: o.Tenant, waited: o.Waited, slowed: o.Slowed}
}

// dialer returns a function that opens connections with another function. What is read from them counts.
func (p *pace) dialer(open connrotation.DialFunc) connrotation.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		closed := make(chan struct{})
		return &pacedConn{Conn: c, pace: p, closed: closed, end: sync.OnceFunc(func() { close(closed) })}, nil
	}
}

// took counts bytes that were read, at most paceBurst. It returns the time to wait before more are read.
func (p *pace) took(n int) time.Duration {
	now := time.Now()
	own := p.limit.ReserveN(now, n).DelayFrom(now)
	wait := max(own, p.tenant.took(now, n))
	if wait > 0 && p.waited != nil {
		p.waited(wait)
	}
	if own <= 0 || p.slowed == nil {
		return wait
	}
	p.mu.Lock()
	report := !now.Before(p.next)
	if report {
		p.next = now.Add(time.Hour)
	}
	p.mu.Unlock()
	if report {
		p.slowed()
	}
	return wait
}

// A pacedConn waits after a read if the server has sent too much.
type pacedConn struct {
	net.Conn

	pace   *pace
	closed chan struct{}
	end    func()
}

// Read reads from the connection.
func (c *pacedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), pacedRead)])
	if n <= 0 {
		return n, err //nolint:wrapcheck // It is the error of the connection.
	}
	if wait := c.pace.took(n); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.closed:
		}
	}
	return n, err //nolint:wrapcheck // It is the error of the connection.
}

// Close closes the connection, also while a read waits.
func (c *pacedConn) Close() error {
	c.end()
	return c.Conn.Close() //nolint:wrapcheck // It is the error of the connection.
}
