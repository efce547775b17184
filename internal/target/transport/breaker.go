// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A breaker fails requests to a server that is down, so that no worker waits for it. After a pause it lets one request
// through to see. Pauses double, from a second to half a minute.
type breaker struct {
	now   func() time.Time
	first time.Duration
	most  time.Duration

	mu sync.Mutex
	// err of the last attempt; nil while the server is reachable. Guarded by mu, as all below.
	err     error
	pause   time.Duration
	until   time.Time
	probing bool
}

func newBreaker(first, most time.Duration) *breaker {
	return &breaker{now: time.Now, first: first, most: most}
}

// allow says whether a request may be sent. It returns the error of the last one if not.
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

// done with a request that was allowed and tells nothing.
func (b *breaker) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// succeeded with a request.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.pause, b.probing = nil, 0, false
}

// failed to reach the server. Requests that were on their way together count as one.
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
	// Clusters that failed together should not come back together.
	b.until = now.Add(b.pause - time.Duration(rand.Int64N(int64(b.pause)/4+1))) //nolint:gosec // Jitter needs no secrecy.
}
