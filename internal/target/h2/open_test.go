// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIsOpen checks when a request needs no new connection, or must not wait for one: before the first request, after it, and after the server is gone.
func TestIsOpen(t *testing.T) {
	cases := map[string]struct {
		reason string
		http2  bool
		want   [3]bool
	}{
		"HTTP2": {reason: "The connection is open until the server is gone.", http2: true, want: [3]bool{false, true, false}},
		"HTTP1": {reason: "Each request to a server without HTTP/2 may need a connection, until one can't be opened.", want: [3]bool{false, true, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			server.EnableHTTP2 = tc.http2
			server.StartTLS()
			defer server.Close()
			pool := poolOf(t, server, func(*http.Transport) {})
			get := func() error {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
				if err != nil {
					return err
				}
				resp, err := pool.RoundTrip(req)
				if err != nil {
					return err
				}
				return resp.Body.Close()
			}
			got := [3]bool{pool.IsOpen()}
			if err := get(); err != nil {
				t.Fatal(err)
			}
			got[1] = pool.IsOpen()
			server.CloseClientConnections()
			server.Close()
			if err := get(); err == nil {
				t.Fatal("want an error without a server")
			}
			got[2] = pool.IsOpen()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nIsOpen(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
