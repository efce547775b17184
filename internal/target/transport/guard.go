// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Limits of one request. Zero values are the defaults.
type Limits struct {
	// AnswerBytes is the largest answer, decompressed, in bytes; default 256 MiB. Watches are bounded by the frame.
	AnswerBytes int64
	// Request is how long a request and its answer may take, whatever its context says; default 5 minutes. The API
	// server gives up after one. Watches may take half a minute more than they asked for.
	Request time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.AnswerBytes == 0 {
		l.AnswerBytes = 256 << 20
	}
	if l.Request == 0 {
		l.Request = 5 * time.Minute
	}
	return l
}

const (
	// longestWatch bounds watches that name no time.
	longestWatch = time.Hour
	// longestRetryAfter is how long client-go may be told to sleep within a call. Longer than that, the caller gets the
	// error and decides.
	longestRetryAfter = 5
)

// A CountFunc is told of each request that was sent: its method, or WATCH, and the status code of the answer, or 0.
type CountFunc func(verb string, code int, watch bool)

// A guard stands between the clients and the server.
type guard struct {
	next   http.RoundTripper
	host   string
	limits Limits
	count  CountFunc
}

// RoundTrip sends a request within the limits.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	watch, limit := isWatch(req.URL), g.limits.Request
	if watch {
		limit = watchTime(req.URL)
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	g.counted(req, resp, watch)
	if err != nil {
		cancel()
		return nil, g.plain(req, err, start)
	}
	if isRedirect(resp) {
		cancel()
		_ = resp.Body.Close()
		return nil, g.plain(req, errRedirect, start)
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || s > longestRetryAfter {
		resp.Header.Del("Retry-After")
	}
	b := &body{ReadCloser: resp.Body, done: cancel, host: g.host, left: g.limits.AnswerBytes}
	if watch {
		b.left = -1
	}
	resp.Body = b
	return resp, nil
}

func (g *guard) counted(req *http.Request, resp *http.Response, watch bool) {
	if g.count == nil {
		return
	}
	verb, code := req.Method, 0
	if watch {
		verb = "WATCH"
	}
	if resp != nil {
		code = resp.StatusCode
	}
	g.count(verb, code, watch)
}

// plain words for an error, unless the caller gave up.
func (g *guard) plain(req *http.Request, err error, start time.Time) error {
	if errors.Is(req.Context().Err(), context.Canceled) {
		return context.Canceled
	}
	u := &UnreachableError{Host: g.host}
	if l := limitError(nil); errors.Is(err, context.DeadlineExceeded) && errors.As(context.Cause(req.Context()), &l) {
		// What is below may know of a deadline, and not of which.
		err = l
	}
	u.Reason, u.Down = reason(err)
	// A caller without patience says nothing about the server.
	if req.Context().Err() != nil && time.Since(start) < 2*time.Second {
		u.Down = false
	}
	return u
}

// A body that ends the request's time when it is closed, and does not grow without end.
type body struct {
	io.ReadCloser

	done context.CancelFunc
	host string
	left int64 // Bytes that may still be read; negative: any number.
}

// Read within the limit.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return b.ReadCloser.Read(p)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return 0, &UnreachableError{Host: b.host, Reason: errTooLarge.Error()}
	}
	b.left -= int64(n)
	return n, err
}

// Close the body.
func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// isRedirect of a kind that Go's client follows. It would take the credentials along.
func isRedirect(r *http.Response) bool {
	return r.StatusCode >= 300 && r.StatusCode < 400 && r.StatusCode != http.StatusNotModified
}

func isWatch(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "watch=") {
		return false
	}
	w, err := strconv.ParseBool(u.Query().Get("watch"))
	return err == nil && w
}

// watchTime is how long a watch may last.
func watchTime(u *url.URL) time.Duration {
	s, err := strconv.Atoi(u.Query().Get("timeoutSeconds"))
	if err != nil || s <= 0 {
		return longestWatch
	}
	return min(time.Duration(s)*time.Second+30*time.Second, longestWatch)
}
