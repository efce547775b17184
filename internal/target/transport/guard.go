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

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
	"github.com/crossplane-contrib/provider-kyma/internal/target/h2"
)

// Limits are the limits of one request. Zero values select the defaults.
type Limits struct {
	// AnswerBytes is the maximum size of a decompressed response, in bytes. The default is 32 MiB, or less if the budget of the
	// process is small.
	AnswerBytes int64
	// EventBytes is the maximum size of an event of a watch. The default is 4 MiB, which is more than an API server stores for an
	// object.
	EventBytes int64
	// Request is the maximum duration of a request and its response, even if the context allows more. The default is 5
	// minutes; the API server itself times out after one. A watch may take half a minute more than the timeout that it
	// requests, but its headers must arrive within this duration.
	Request time.Duration
}

// withDefaults returns the limits for a budget that has room for one response of some bytes.
func (l Limits) withDefaults(response int64) Limits {
	if l.AnswerBytes == 0 {
		l.AnswerBytes = 32 << 20
	}
	if l.EventBytes == 0 {
		l.EventBytes = 4 << 20
	}
	l.AnswerBytes, l.EventBytes = min(l.AnswerBytes, response), min(l.EventBytes, response)
	if l.Request == 0 {
		l.Request = 5 * time.Minute
	}
	return l
}

// longestWatch is the maximum duration of a watch, and the default if it requests no timeout.
const longestWatch = time.Hour

// A CountFunc is called for each request with its method, or WATCH, and the status code of the response, or 0 without a
// response.
type CountFunc func(verb string, code int, watch bool)

// A guard enforces limits between the clients and the server.
type guard struct {
	next   http.RoundTripper
	host   string
	limits Limits
	budget *decoding.Budget
	count  CountFunc
	times  responseTimes
}

// RoundTrip sends a request within the limits, and rejects redirects.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	watch, limit := isWatch(req.URL), limitOf(req.Context(), g.limits.Request)
	if watch {
		limit = watchTime(req.URL)
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	resp, err := g.send(req.WithContext(ctx), cancel, watch)
	if refused := (*sendcheck.Error)(nil); errors.As(err, &refused) {
		cancel()
		return nil, refused
	}
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
	if resp.StatusCode >= http.StatusBadRequest && !isAPI(resp) {
		withoutText(resp)
	}
	b := g.bodyOf(ctx, cancel, req.URL, resp, start)
	if resp.Body = b; b.watch && isDetached(ctx) {
		b.detach(start.Add(limit))
	}
	return resp, nil
}

// send sends a request, and returns its response when its headers have arrived. For a watch, it cancels the request if this takes too long: an
// API server sends them immediately, and a watch without them would last until its end although it receives nothing.
func (g *guard) send(req *http.Request, cancel context.CancelFunc, watch bool) (*http.Response, error) {
	if !watch {
		return g.next.RoundTrip(req)
	}
	late := time.AfterFunc(limitOf(req.Context(), g.limits.Request), cancel)
	resp, err := g.next.RoundTrip(req)
	if late.Stop() {
		return resp, err
	}
	if err == nil {
		err = resp.Body.Close()
		return nil, errors.Join(context.DeadlineExceeded, err)
	}
	return nil, context.DeadlineExceeded
}

// withoutText replaces the text of an error that is not in the format of the Kubernetes API. client-go would quote this text,
// which can be the page of a different server that the author of a kubeconfig must not be able to read.
func withoutText(resp *http.Response) {
	const text = "the response is not from a Kubernetes API server"
	_ = resp.Body.Close()
	resp.Header.Set("Content-Type", "text/plain")
	resp.Header.Del("Content-Length")
	resp.Header.Del("Content-Encoding")
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
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

// plain converts an error to an *UnreachableError, unless the caller canceled the request.
func (g *guard) plain(req *http.Request, err error, start time.Time) error {
	if errors.Is(req.Context().Err(), context.Canceled) {
		return context.Canceled
	}
	u := &UnreachableError{Host: g.host}
	if l := limitError(nil); errors.Is(err, context.DeadlineExceeded) && errors.As(context.Cause(req.Context()), &l) {
		// The underlying error reports a deadline, but not which one.
		err = l
	}
	u.Reason, u.Down = reason(err)
	u.Stopped = errors.Is(err, h2.ErrStopped)
	u.Slow = errors.Is(err, context.DeadlineExceeded)
	// A short deadline of the caller proves nothing about the server.
	if req.Context().Err() != nil && time.Since(start) < 2*time.Second {
		u.Down = false
	}
	return u
}

// isRedirect reports whether Go's client would follow a response, and send the credentials to another server.
func isRedirect(r *http.Response) bool {
	return r.StatusCode >= 300 && r.StatusCode < 400 && r.StatusCode != http.StatusNotModified
}

func isWatch(u *url.URL) bool { return isTrue(u, "watch") }

// isStreamedList reports whether a watch begins with a list.
func isStreamedList(u *url.URL) bool { return isTrue(u, "sendInitialEvents") }

// isTrue reports whether a parameter of a URL is true.
func isTrue(u *url.URL, parameter string) bool {
	if !strings.Contains(u.RawQuery, parameter+"=") {
		return false
	}
	yes, err := strconv.ParseBool(u.Query().Get(parameter))
	return err == nil && yes
}

// watchTime returns the maximum duration of a watch.
func watchTime(u *url.URL) time.Duration {
	s, err := strconv.Atoi(u.Query().Get("timeoutSeconds"))
	if err != nil || s <= 0 {
		return longestWatch
	}
	return min(time.Duration(s)*time.Second+30*time.Second, longestWatch)
}
