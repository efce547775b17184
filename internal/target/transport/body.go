// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/target/h2"
)

// largeEvent is the size of an event in bytes after which a watch ends, and is continued: its decoder keeps a buffer of the size of the
// largest event. A watch that begins with a list ends after this list, because it would otherwise begin from the start.
const largeEvent = 512 << 10

// mostError is the maximum size of an error in bytes, for read requests: callers keep their errors. Those of writes can have many causes,
// which their callers need.
const mostError = 64 << 10

// A body is the body of a response within the budget of the process. It is read as a whole before the client gets its first byte, and
// that of a watch event by event. Closing it ends the time limit of the request.
type body struct {
	io.Closer

	// ctx is the context of the request, which cancel cancels. It is nil if the body is detached from it. until is the time limit then.
	ctx    context.Context //nolint:containedctx // It is the context of the request.
	cancel context.CancelFunc
	until  time.Time
	guard  *guard
	// next returns the next part to read, and io.EOF after the last one.
	next  func() (decoding.Source, error)
	watch bool
	// failed is the status code of an error of a read request, and otherwise zero.
	failed int

	// listing is true until a watch that begins with a list has sent all of it, and large is true after a large event. They, unread and
	// err belong to the goroutine that reads.
	listing, large bool

	unread *bytes.Reader
	err    error
	// content is what unread reads, and in is the rest of the events of a watch, or nil after the last one.
	content []byte
	in      *stream

	// waiter waits while the watch is idle.
	waiter Waiter

	// measure adds the time until the end of the response to the response times, once. It does nothing for a watch.
	measure func()

	// aborted is true after abort has ended a detached body, and waiting cancels the context with which it is read, or is nil. They are atomic because
	// abort is called with the lock of the budget held, which is also taken with mu held.
	aborted atomic.Bool
	waiting atomic.Pointer[context.CancelFunc]

	mu      sync.Mutex
	release func()
	closed  bool
}

// bodyOf returns the body of a response for the client. The context is that of the request, and cancel cancels it.
func (g *guard) bodyOf(ctx context.Context, cancel context.CancelFunc, u *url.URL, resp *http.Response, start time.Time) *body {
	b := &body{
		Closer: resp.Body, ctx: ctx, cancel: cancel, guard: g, watch: isWatch(u) && resp.StatusCode == http.StatusOK, listing: isStreamedList(u),
		unread: bytes.NewReader(nil), release: func() {}, measure: func() {},
	}
	if !isWatch(u) {
		b.measure = sync.OnceFunc(func() { g.times.add(time.Since(start)) })
	}
	s := decoding.Source{
		Reader: resp.Body, ContentType: resp.Header.Get("Content-Type"), Expected: resp.ContentLength, Most: g.limits.AnswerBytes, Abort: b.abort,
		Failed: resp.StatusCode > http.StatusPartialContent, // As in client-go.
	}
	if r := resp.Request; resp.StatusCode >= http.StatusBadRequest && r != nil && r.Method == http.MethodGet {
		s.Most, b.failed = min(s.Most, mostError), resp.StatusCode
	}
	b.next = once(s)
	if b.watch {
		s.Most, s.Expected = g.limits.EventBytes, 0
		b.in, b.next = events(s)
	}
	return b
}

// once returns the only part of a response.
func once(s decoding.Source) func() (decoding.Source, error) {
	err := error(nil)
	return func() (decoding.Source, error) {
		defer func() { err = io.EOF }()
		return s, err
	}
}

// Read reads from the current part. It releases the previous part, which the client has decoded and delivered when it continues to
// read.
func (b *body) Read(p []byte) (int, error) {
	for b.err == nil && b.unread.Len() == 0 {
		b.holds(func() {})
		b.err = b.load()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.unread.Read(p)
}

// load reads the next part.
func (b *body) load() error {
	s, err := b.next()
	if err != nil {
		return err
	}
	ctx, done := b.reading()
	defer done()
	content, release, err := b.guard.budget.Read(ctx, s)
	b.measure()
	if b.failed > 0 && errors.Is(err, decoding.ErrTooLarge) {
		content, release, err = shortError(b.failed)
	}
	if err != nil {
		return b.guard.limited(err)
	}
	b.holds(release)
	b.content = content
	b.unread.Reset(content)
	if b.watch && b.endsAfter(content) {
		b.in, b.next = nil, func() (decoding.Source, error) { return s, io.EOF }
	}
	return nil
}

// detach makes the body independent of the context of the request, if it can be idle and its connection has pings. It ends at the given time then.
func (b *body) detach(until time.Time) {
	d, ok := b.Closer.(interface{ Detach(until time.Time) bool })
	if !ok || !d.Detach(until) {
		return
	}
	b.cancel()
	b.ctx, b.cancel, b.until = nil, func() {}, until
}

// Detached returns a function that ends the body with an error, if it is independent of the context of its request, and otherwise nil. The function
// doesn't block, and the reader can still use what it has read.
func (b *body) Detached() func() {
	if b.ctx != nil {
		return nil
	}
	return b.abort
}

// abort ends the request, so that its reader gets an error. It does not block.
func (b *body) abort() {
	if b.ctx != nil {
		b.cancel()
		return
	}
	if b.aborted.Swap(true) {
		return
	}
	if cancel := b.waiting.Load(); cancel != nil {
		(*cancel)()
	}
	go b.Closer.Close() // It writes to the connection.
}

// reading returns the context for reading the next part. A detached body has one only while it is read.
func (b *body) reading() (context.Context, context.CancelFunc) {
	if b.ctx != nil {
		return b.ctx, func() {}
	}
	ctx, cancel := context.WithDeadline(context.Background(), b.until)
	b.waiting.Store(&cancel)
	if b.aborted.Load() {
		cancel()
	}
	return ctx, func() {
		b.waiting.Store(nil)
		cancel()
	}
}

// endsAfter reports whether a watch ends after an event.
func (b *body) endsAfter(event []byte) bool {
	b.large = b.large || len(event) > largeEvent
	b.listing = b.listing && !isEndOfList(event)
	return b.large && !b.listing
}

// holds releases the memory that the body has taken from the budget, and keeps the function that releases its current memory.
func (b *body) holds(release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release()
	b.release = release
	if b.closed {
		release()
	}
}

// A Waiter waits for the next event of a watch.
type Waiter interface {
	// Wake is called once, in a new goroutine, when Read might return.
	Wake()
	// Bookmark is called with the version of a bookmark that arrives before that. The bookmark is not read, and the watch stays idle. The
	// connection is locked meanwhile, so Bookmark must return soon, and must not use the connection or panic.
	Bookmark(version string)
	// Patience returns how long the watch may be idle without a bookmark, or 0 for any time. After that, it ends. What applies to Bookmark
	// applies to Patience.
	Patience() time.Duration
}

// Idle returns false if Read might return immediately, or if this is not known: only a watch over HTTP/2 can be idle. Otherwise, it wakes
// the waiter when Read might return. It drops white space after the last event.
func (b *body) Idle(w Waiter) bool {
	quiet, ok := b.Closer.(interface{ Idle(w h2.Waiter) bool })
	if !ok || b.err != nil || b.in == nil || b.in.err != nil || len(b.in.rest) > 0 {
		return false
	}
	if len(bytes.TrimSpace(b.content[len(b.content)-b.unread.Len():])) > 0 {
		return false
	}
	b.holds(func() {})
	b.content = nil
	b.unread.Reset(nil)
	b.waiter = w
	return quiet.Idle(b)
}

// Wake wakes the waiter. It implements h2.Waiter.
func (b *body) Wake() { b.waiter.Wake() }

// Patience implements h2.Waiter.
func (b *body) Patience() time.Duration { return b.waiter.Patience() }

// Take returns true if the data is one bookmark. Most events of a fleet at rest are bookmarks, and this needs no goroutine and no decoder
// for them. It implements h2.Waiter.
func (b *body) Take(data []byte) bool {
	if b.listing || b.large {
		return false
	}
	version := bookmarkVersion(data)
	if version == "" {
		return false
	}
	b.waiter.Bookmark(version)
	return true
}

// Close closes the body, releases its memory from the budget, and cancels the context of the request. If the body is detached, Close returns before the
// server is informed, and its error is nil.
func (b *body) Close() error {
	defer b.cancel()
	b.measure()
	b.mu.Lock()
	b.closed = true
	b.release()
	b.mu.Unlock()
	if b.ctx == nil {
		b.abort()
		return nil
	}
	return b.Closer.Close()
}

// limited converts the errors of the budget to errors for users.
func (g *guard) limited(err error) error {
	switch {
	case errors.Is(err, decoding.ErrTooLarge):
		return &UnreachableError{Host: g.host, Reason: errTooLarge.Error(), TooLarge: true}
	case errors.Is(err, decoding.ErrBusy):
		return &UnreachableError{Host: g.host, Reason: errBusy.Error(), Slow: true}
	}
	return err
}
