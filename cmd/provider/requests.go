// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/transport"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
)

// countRequests returns a function that wraps a transport to count its requests. Package target counts the requests to target
// clusters.
func countRequests(r metrics.Requests) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			res, err := next.RoundTrip(req)
			code := 0
			if res != nil {
				code = res.StatusCode
			}
			r.Count(verbOf(req), code)
			return res, err
		})
	}
}

// These are the defaults of awaitServer: how often a watch is tried again, and for how long.
const (
	watchRetry = 500 * time.Millisecond
	watchLimit = 10 * time.Minute
)

// requestedPause is the time until the next attempt if an API server requests one, whatever it requests: for a fraction of a second after its
// start, it requests 5 s for all paths that it does not serve yet.
const requestedPause = time.Second

// awaitServer returns a function that wraps a transport so that watches wait while an API server restarts. They try again each retry, for up
// to limit. Otherwise, client-go would wait twice as long after each attempt, up to a minute: after a restart, no change would be seen for
// some time. All other requests fail immediately.
func awaitServer(retry, limit time.Duration) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			res, err := next.RoundTrip(req)
			if verbOf(req) != verbWatch {
				return res, err
			}
			for deadline := time.Now().Add(limit); restarts(res, err) && time.Now().Before(deadline); {
				select {
				case <-req.Context().Done():
				case <-time.After(pauseAfter(res, retry)):
				}
				if req.Context().Err() != nil {
					return res, err
				}
				if res != nil {
					if err := res.Body.Close(); err != nil {
						return nil, errors.Wrap(err, "cannot close the response of an API server that restarts")
					}
				}
				res, err = next.RoundTrip(req)
			}
			return res, err
		})
	}
}

// restarts reports whether the result of a request can be that of an API server that is restarting: it accepts no connection, ends them, or
// is not ready to respond.
func restarts(res *http.Response, err error) bool {
	if err != nil {
		return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
	}
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable
}

// pauseAfter returns the time until the next attempt after a response, which can be nil.
func pauseAfter(res *http.Response, retry time.Duration) time.Duration {
	if res != nil && res.Header.Get("Retry-After") != "" {
		return max(retry, requestedPause)
	}
	return retry
}

// verbWatch is what verbOf returns for a watch.
const verbWatch = "WATCH"

// verbOf returns WATCH for a watch, REVIEW for an access review, and the HTTP method for any other request.
func verbOf(r *http.Request) string {
	if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
		return verbWatch
	}
	// Clients create access reviews, but the API server doesn't store them.
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/"+authorizationv1.GroupName+"/") {
		return "REVIEW"
	}
	return r.Method
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
