// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A breaker rejects requests to a server that is down, so that no worker waits for it. After each pause, it allows one
// request to probe the server. Pauses double, from a second to half a minute.
type breaker struct {
	now   func() time.Time
	first time.Duration
	most  time.Duration

	mu sync.Mutex
	// err is the error of the last attempt, or nil while the server is reachable. mu guards it and all fields below.
	err     error
	pause   time.Duration
	until   time.Time
	probing bool
}

func newBreaker(first, most time.Duration) *breaker {
	return &breaker{now: time.Now, first: first, most: most}
}

// allow returns nil if a request may be sent, and otherwise the error of the last attempt.
func (b *breaker) allow() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return nil
	}
	if b.probing || b.now().Before(b.until) {
		return b.err
	}
	b.probing = true
	return nil
}

// done ends an allowed request whose result says nothing about the server.
func (b *breaker) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// succeeded records that the server responded.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.pause, b.probing = nil, 0, false
}

// failed records that the server could not be reached. Concurrent failures count as one.
func (b *breaker) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	now := b.now()
	if b.err != nil && now.Before(b.until) {
		return
	}
	b.err = err
	b.pause = min(max(2*b.pause, b.first), b.most)
	// Jitter spreads the probes of clusters that failed together.
	b.until = now.Add(b.pause - time.Duration(rand.Int64N(int64(b.pause)/4+1))) //nolint:gosec // Jitter needs no secrecy.
}
