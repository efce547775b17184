// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// TestAwaitServer sends requests to a server that is started after the second attempt to connect, or not at all.
func TestAwaitServer(t *testing.T) {
	const watch = "/apis/kyma.m.crossplane.io/v1alpha1/kymas?watch=true"
	cases := map[string]struct {
		reason string
		method string
		path   string
		limit  time.Duration
		starts bool
		// ends is set if the caller ends the request after the second attempt.
		ends bool
		// answers contains the status codes of the first responses of the server that was started. Later ones have the code 200.
		answers []int
		// attempts is the number of attempts, and refused is true if the last one is refused.
		attempts int
		refused  bool
		code     int
	}{
		"Watch": {reason: "A watch waits for the server.", method: http.MethodGet, path: watch, limit: time.Hour, starts: true, attempts: 3, code: http.StatusOK},
		"NotReady": {
			reason: "A watch waits until the server is ready.", method: http.MethodGet, path: watch, limit: time.Hour, starts: true,
			answers: []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}, attempts: 5, code: http.StatusOK,
		},
		"Denied": {
			reason: "Another error is returned.", method: http.MethodGet, path: watch, limit: time.Hour, starts: true,
			answers: []int{http.StatusForbidden}, attempts: 3, code: http.StatusForbidden,
		},
		"List":    {reason: "A list does not, because a reconcile would wait.", method: http.MethodGet, path: "/api/v1/secrets", limit: time.Hour, attempts: 1, refused: true},
		"Write":   {reason: "Nor does a write.", method: http.MethodPost, path: "/api/v1/events", limit: time.Hour, attempts: 1, refused: true},
		"Limit":   {reason: "The wait is limited.", method: http.MethodGet, path: watch, attempts: 1, refused: true},
		"Stopped": {reason: "A watch that has ended does not wait.", method: http.MethodGet, path: watch, limit: time.Hour, ends: true, attempts: 2, refused: true},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if len(tc.answers) > 0 {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(tc.answers[0])
					tc.answers = tc.answers[1:]
				}
			}))
			address := server.Listener.Addr().String()
			if err := server.Listener.Close(); err != nil {
				t.Fatal(err)
			}
			attempts := 0
			rt := awaitServer(time.Millisecond, tc.limit)(roundTripper(func(r *http.Request) (*http.Response, error) {
				res, err := http.DefaultTransport.RoundTrip(r)
				if attempts++; attempts == 2 {
					if tc.starts {
						start(ctx, t, server, address)
					}
					if tc.ends {
						cancel()
					}
				}
				return res, err
			}))
			req, err := http.NewRequestWithContext(ctx, tc.method, "http://"+address+tc.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := rt.RoundTrip(req)
			code := 0
			if res != nil {
				code = res.StatusCode
				_ = res.Body.Close()
			}
			type result struct {
				Attempts, Code int
				Refused        bool
			}
			if diff := cmp.Diff(result{tc.attempts, tc.code, tc.refused}, result{attempts, code, utilnet.IsConnectionRefused(err)}); diff != "" {
				t.Errorf("\n%s\nRoundTrip(): -want, +got:\n%s\nerror: %v", tc.reason, diff, err)
			}
		})
	}
}

// start starts a server at an address.
func start(ctx context.Context, t *testing.T, server *httptest.Server, address string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
}

// TestPauseAfter checks how long a watch waits before it is tried again.
func TestPauseAfter(t *testing.T) {
	cases := map[string]struct {
		reason string
		// header is the time that the server requests.
		header      string
		retry, want time.Duration
	}{
		"Seconds": {reason: "The server requests a pause.", header: "1", retry: time.Millisecond, want: time.Second},
		"Start":   {reason: "A server that starts is ready sooner than it says.", header: "5", retry: time.Millisecond, want: time.Second},
		"Long":    {reason: "The wait is limited.", header: "3600", retry: time.Millisecond, want: time.Second},
		"Longer":  {reason: "A request does not shorten the pause.", header: "1", retry: time.Minute, want: time.Minute},
		"None":    {reason: "The server requests nothing.", retry: time.Millisecond, want: time.Millisecond},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			res := &http.Response{Header: http.Header{"Retry-After": {tc.header}}}
			if got := pauseAfter(res, tc.retry); got != tc.want {
				t.Errorf("\n%s\npauseAfter(%q, %s): want %s, got %s", tc.reason, tc.header, tc.retry, tc.want, got)
			}
		})
	}
	if got := pauseAfter(nil, time.Minute); got != time.Minute {
		t.Errorf("pauseAfter(nil, %s): got %s", time.Minute, got)
	}
}
