// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A NotConnectedError reports that no request was sent, because the server is not Connected. Its text is the message of the
// outcome, which is equal for equal causes.
type NotConnectedError struct {
	// State is Unknown while the first probe is running, and Unauthorized or Unreachable after that.
	State State
	// Message is one line without credentials and times.
	Message string
}

// Error returns the message.
func (e *NotConnectedError) Error() string { return e.Message }

// Unauthorized reports whether the server rejected the credentials.
func (e *NotConnectedError) Unauthorized() bool { return e.State == Unauthorized }

// A ThrottledError reports that the server asked to send requests later (429 Too Many Requests).
type ThrottledError struct {
	// Host is the scheme, host and port of the server.
	Host string
	// After is the time to wait before the next request.
	After time.Duration
}

// Error returns one line that is equal for equal causes.
func (e *ThrottledError) Error() string {
	return "API server " + e.Host + " is throttling requests (429 Too Many Requests)"
}

const (
	// leastThrottle is the time to wait after a 429 response that does not specify one. mostThrottle is the maximum time that a
	// server can specify.
	leastThrottle = time.Second
	mostThrottle  = time.Minute
	// longestRetryAfter is the maximum Retry-After, in seconds, that client-go waits within a call of a transport that is not
	// monitored. If it is longer, the caller gets the error and can decide.
	longestRetryAfter = 5
)

// A throttle holds back requests after a 429 response, for the time that the server specifies.
type throttle struct {
	mu    sync.Mutex
	until time.Time
}

// answered evaluates a response and removes Retry-After from it, so that client-go does not sleep. It returns a *ThrottledError
// for a 429 response, whose body it closes.
func (t *throttle) answered(host string, resp *http.Response) error {
	after := resp.Header.Get("Retry-After")
	resp.Header.Del("Retry-After")
	if resp.StatusCode != http.StatusTooManyRequests {
		return nil
	}
	_ = resp.Body.Close()
	// If it is not a number of seconds, the minimum applies.
	s, _ := strconv.Atoi(after)
	d := min(max(time.Duration(min(s, int(mostThrottle/time.Second)))*time.Second, leastThrottle), mostThrottle)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = time.Now().Add(d)
	return &ThrottledError{Host: host, After: d}
}

// left returns a *ThrottledError while requests are held back.
func (t *throttle) left(host string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := time.Until(t.until); d > 0 {
		return &ThrottledError{Host: host, After: d}
	}
	return nil
}

// boundRetryAfter removes a Retry-After for which client-go would sleep too long.
func boundRetryAfter(resp *http.Response) {
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || s > longestRetryAfter {
		resp.Header.Del("Retry-After")
	}
}

type contextKey int

const (
	probeKey contextKey = iota
	limitKey
	detachKey
)

// Probe returns a context for a request that is sent even if the server is not Connected. A single such request is decisive: if
// it fails, the server is unreachable.
func Probe(ctx context.Context) context.Context { return context.WithValue(ctx, probeKey, true) }

func isProbe(ctx context.Context) bool { return ctx.Value(probeKey) != nil }

// WithLimit returns a context for requests with a maximum duration other than that of Limits.
func WithLimit(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, limitKey, d)
}

// Detach returns a context for the request of a watch that need not end with it. Over HTTP/2, the watch then ends when its body is closed, at its time
// limit, or with the connection, so that thousands of idle watches need no memory for contexts. See body.Detached.
func Detach(ctx context.Context) context.Context { return context.WithValue(ctx, detachKey, true) }

func isDetached(ctx context.Context) bool { return ctx.Value(detachKey) != nil }

// limitOf returns the maximum duration of a request.
func limitOf(ctx context.Context, usual time.Duration) time.Duration {
	if d, ok := ctx.Value(limitKey).(time.Duration); ok {
		return d
	}
	return usual
}

// Ready returns nil if requests can be sent. It returns a *NotConnectedError if the server is not Connected, and a
// *ThrottledError while the server requests a lower rate. It sends no requests itself.
func (t *Transport) Ready() error {
	switch o := t.Outcome(); {
	case t.closed.Load():
		return ErrClosed
	case o.State == Unknown:
		return &NotConnectedError{Message: "connecting to API server " + t.host}
	case o.State != Connected:
		return &NotConnectedError{State: o.State, Message: o.Message}
	}
	return t.throttle.left(t.host)
}

// Refusal returns the error with which a request would fail now without being sent, unless it is a probe. It returns nil if the transport is not
// monitored.
func (t *Transport) Refusal() error {
	if !t.monitored {
		return nil // A circuit breaker allows one request after each pause.
	}
	return t.allow(false)
}

// allow returns the error of a request that must not be sent.
func (t *Transport) allow(probe bool) error {
	switch {
	case t.closed.Load():
		return ErrClosed
	case !t.monitored:
		return t.breaker.allow()
	case probe:
		return nil
	}
	err := t.Ready()
	if e := (*NotConnectedError)(nil); errors.As(err, &e) && e.State == Unknown {
		return nil
	}
	return err
}
