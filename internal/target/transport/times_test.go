// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestResponseTime(t *testing.T) {
	const slow = 50 * time.Millisecond
	cases := map[string]struct {
		reason string
		paths  []string
		// slow is true if the result must be at least a part of the time of the slow response, and none is true if there must be none.
		slow, none bool
	}{
		"New":      {reason: "There was no request.", none: true},
		"Quick":    {reason: "The server responds immediately.", paths: []string{"/version", "/version"}},
		"Slow":     {reason: "The server needs time.", paths: []string{"/slow"}, slow: true},
		"Later":    {reason: "Quick responses don't outweigh a slow one at once.", paths: []string{"/slow", "/version", "/version"}, slow: true},
		"Watch":    {reason: "A watch responds when there are events.", paths: []string{"/slow?watch=true"}, none: true},
		"Body":     {reason: "The server sends its response slowly.", paths: []string{"/body"}, slow: true},
		"Canceled": {reason: "The caller did not wait for the response.", paths: []string{"/canceled"}, none: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/slow" {
					time.Sleep(slow)
				}
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/body" {
					_, _ = io.WriteString(w, "{")
					w.(http.Flusher).Flush()
					time.Sleep(slow)
					_, _ = io.WriteString(w, "}")
				}
			}))
			defer s.Close()
			tr := newTransport(t, &rest.Config{Host: s.URL}, Options{})
			for _, path := range tc.paths {
				ctx, cancel := context.WithCancel(t.Context())
				if path == "/canceled" {
					cancel()
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp, err := tr.RoundTrip(req); err == nil {
					_, _ = io.ReadAll(resp.Body)
					_ = resp.Body.Close()
				}
				cancel()
			}
			got := tr.ResponseTime()
			if none := got == 0; none != tc.none {
				t.Errorf("\n%s\nResponseTime(): %s", tc.reason, got)
			}
			if tc.slow && got < slow/4 {
				t.Errorf("\n%s\nResponseTime(): want at least %s, got %s", tc.reason, slow/4, got)
			}
		})
	}
}
