// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

type contextKey struct{}

// A holder holds the memory that the responses of its context take from a budget.
type holder struct {
	up *holder
	// waiting is held during acquire, so that only one response at a time waits. It is that of the outermost holder.
	waiting *sync.Mutex
	// mu guards releases.
	mu       sync.Mutex
	releases []func()
}

// Hold returns a context for one request, and a function to call when its response is decoded and no longer used. Until then the
// response counts in the budget. Without Hold, it counts until its body is closed, which is before it is decoded.
func Hold(ctx context.Context) (context.Context, func()) {
	h := &holder{up: holderOf(ctx), waiting: &sync.Mutex{}}
	if h.up != nil {
		h.waiting = h.up.waiting
	}
	return context.WithValue(ctx, contextKey{}, h), h.release
}

func holderOf(ctx context.Context) *holder {
	h, _ := ctx.Value(contextKey{}).(*holder)
	return h
}

// acquire acquires memory from a semaphore and keeps it until release. It waits only while the holder, and those around it, have
// nothing: otherwise, two of them could wait for each other. Without a holder, the caller must call the function that it returns.
func (h *holder) acquire(ctx context.Context, s *semaphore.Weighted, n int64) (func(), error) {
	release := sync.OnceFunc(func() { s.Release(n) })
	if h == nil {
		if s.Acquire(ctx, n) != nil {
			return nil, context.Cause(ctx)
		}
		return release, nil
	}
	h.waiting.Lock()
	defer h.waiting.Unlock()
	switch has := h.holds(); {
	case has && !s.TryAcquire(n):
		return nil, ErrBusy
	case !has && s.Acquire(ctx, n) != nil:
		return nil, context.Cause(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.releases = append(h.releases, release)
	return func() {}, nil
}

// holds reports whether the holder or one around it has memory.
func (h *holder) holds() bool {
	for ; h != nil; h = h.up {
		h.mu.Lock()
		n := len(h.releases)
		h.mu.Unlock()
		if n > 0 {
			return true
		}
	}
	return false
}

func (h *holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.releases {
		f()
	}
	h.releases = nil
}
