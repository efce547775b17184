// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// A health is what a connection needs at some time.
type health struct {
	// end is the error with which the connection ends, or nil.
	end error
	// ping is true if a ping must be sent.
	ping bool
	// next is the time until the next check.
	next time.Duration
}

// quiet describes how long a connection has been quiet.
type quiet struct {
	// streams is the number of streams, and unused the time since there is none.
	streams int
	unused  time.Duration
	// frame is the time since the last frame, and pinged that since a ping after it, or negative.
	frame, pinged time.Duration
}

// check returns what a quiet connection needs.
func (p *Pool) check(q quiet) health {
	const never = time.Hour
	next := never
	if p.idle > 0 && q.streams == 0 {
		if q.unused >= p.idle {
			return health{end: errIdle}
		}
		next = min(next, p.idle-q.unused)
	}
	switch {
	case p.ping == 0:
	case q.pinged >= p.lost && q.pinged >= 0:
		return health{end: errLost}
	case q.pinged >= 0:
		next = min(next, p.lost-q.pinged)
	case q.frame >= p.ping:
		return health{ping: true, next: min(next, p.lost)}
	default:
		next = min(next, p.ping-q.frame)
	}
	if p.idle > 0 {
		next = min(next, p.idle)
	}
	return health{next: next}
}

// checkLater starts the checks.
func (c *conn) checkLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && c.timer == nil {
		next := c.pool.check(quiet{pinged: -1}).next
		c.timer, c.due = time.AfterFunc(next, c.check), time.Now().Add(next)
	}
}

// check tests the connection, or closes it, and ends the streams that have stalled.
func (c *conn) check() {
	c.mu.Lock()
	now := time.Now()
	q := quiet{streams: len(c.streams), unused: now.Sub(c.unused), frame: now.Sub(c.frame), pinged: -1}
	if !c.pinged.IsZero() {
		q.pinged = now.Sub(c.pinged)
	}
	h := c.pool.check(q)
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	if h.end != nil {
		// No stream may be opened from now on.
		c.goAway = true
		c.mu.Unlock()
		c.fail(h.end)
		return
	}
	if h.ping {
		c.pinged = now
	}
	var ends []func()
	for _, s := range c.streams {
		if err := s.overdue(now); err != nil {
			ends = append(ends, func() { s.cancel(err) })
		}
	}
	c.checkIn(now, h.next)
	c.mu.Unlock()
	for _, end := range ends {
		end()
	}
	if h.ping {
		c.sendPing()
	}
}

// checkIn sets the time of the next check. The caller holds mu.
func (c *conn) checkIn(now time.Time, d time.Duration) {
	c.timer.Reset(d)
	c.due = now.Add(d)
}

// sendPing sends a ping.
func (c *conn) sendPing() {
	// If the write fails, the connection is closed, which ends all streams with the error.
	_ = c.write(nil, func(w *http2.Framer) error { return w.WritePing(false, [8]byte{}) })
}

// Heard tests a connection that has been quiet for at least the given time. It sends a ping, and returns a channel that is closed when the next frame
// arrives or the connection ends. It returns nil if a frame arrived more recently, or if no connection is open. It does not block.
func (p *Pool) Heard(within time.Duration) <-chan struct{} {
	p.mu.Lock()
	i := slices.IndexFunc(p.conns, (*conn).available)
	if i < 0 {
		p.mu.Unlock()
		return nil
	}
	c := p.conns[i]
	p.mu.Unlock()
	return c.nextFrame(within)
}

// isOpen reports whether streams can be opened, or could be if there were not as many already.
func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == nil && !c.goAway
}

// nextFrame is Heard for one connection.
func (c *conn) nextFrame(within time.Duration) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.err != nil || now.Sub(c.frame) < within {
		return nil
	}
	if c.heard == nil {
		c.heard = make(chan struct{})
	}
	if c.pinged.IsZero() {
		c.pinged = now
		if c.timer != nil && c.pool.ping > 0 {
			// The check must not become later: repeated calls would postpone it forever.
			c.checkIn(now, min(c.pool.lost, c.due.Sub(now)))
		}
		go c.sendPing() // A write can block.
	}
	return c.heard
}

// wakeHeard wakes those who wait for the next frame. The caller holds mu.
func (c *conn) wakeHeard() {
	if c.heard != nil {
		close(c.heard)
		c.heard = nil
	}
}

// demand counts a frame that has to be answered. It returns an error if the server sends too many of them.
func (c *conn) demand(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
	case *http2.SettingsFrame:
		if f.IsAck() {
			return nil
		}
	default:
		return nil
	}
	if now := time.Now(); now.Sub(c.demanded) > demandTime {
		c.demands, c.demanded = 0, now
	}
	if c.demands++; c.demands > mostDemands {
		return http2.ConnectionError(http2.ErrCodeEnhanceYourCalm)
	}
	return nil
}
