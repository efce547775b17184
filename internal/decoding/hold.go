// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
)

type contextKey struct{}

// A holder holds the memory that the responses of its context take from a budget.
type holder struct {
	up *holder
	// waiting is held during acquire, so that only one response at a time waits. It is that of the outermost holder.
	waiting *sync.Mutex
	// mu guards the memory of the responses, and uncounted, the size of the small responses that do not count yet.
	mu        sync.Mutex
	held      []held
	uncounted int64
}

// held is the memory of a response, which can be an error.
type held struct {
	release func()
	failed  bool
}

// Hold returns a context for one request, and a function to call when its response is decoded and no longer used. Until then the
// response counts in the budget, but an error only until the next request. Without Hold, it counts until its body is closed, which is
// before it is decoded. The responses of several requests with the context count together, even if each of them is small.
func Hold(ctx context.Context) (context.Context, func()) {
	h := &holder{up: holderOf(ctx), waiting: &sync.Mutex{}}
	if h.up != nil {
		h.waiting = h.up.waiting
	}
	return context.WithValue(ctx, contextKey{}, h), h.release
}

// ReleaseErrors releases the memory of responses that are errors. Call it before a request with the same context is sent: its caller has
// decoded the error of the previous one, and must not hold memory while it waits for the network.
func ReleaseErrors(ctx context.Context) {
	for h := holderOf(ctx); h != nil; h = h.up {
		h.mu.Lock()
		h.held = slices.DeleteFunc(h.held, func(m held) bool {
			if m.failed {
				m.release()
			}
			return m.failed
		})
		h.mu.Unlock()
	}
}

func holderOf(ctx context.Context) *holder {
	h, _ := ctx.Value(contextKey{}).(*holder)
	return h
}

// due adds a response to the small ones that do not count yet. When they are no longer small together, it returns the size that must be
// acquired for all of them, and otherwise 0. An error, and each response without a holder, is on its own.
func (h *holder) due(size int64, failed bool) int64 {
	if h == nil || failed {
		if size <= small {
			return 0
		}
		return size
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uncounted += size
	if h.uncounted <= small {
		return 0
	}
	due := h.uncounted
	h.uncounted = 0
	return due
}

// undo adds small responses again that could not be counted.
func (h *holder) undo(size int64) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uncounted += size
}

// acquire acquires memory from a semaphore and keeps it until release. It waits only while the holder, and those around it, have
// nothing: otherwise, two of them could wait for each other. Without a holder, the caller must call the function that it returns.
func (h *holder) acquire(ctx context.Context, s *semaphore.Weighted, n int64, failed bool) (func(), error) {
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
	h.held = append(h.held, held{release, failed})
	return func() {}, nil
}

// holds reports whether the holder or one around it has memory.
func (h *holder) holds() bool {
	for ; h != nil; h = h.up {
		h.mu.Lock()
		n := len(h.held)
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
	for _, m := range h.held {
		m.release()
	}
	h.held, h.uncounted = nil, 0
}
