// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// TestHeldErrors checks that a cluster holds no memory of the budget while it does not respond to the request after an error, although the
// caller still holds the memory of its responses.
func TestHeldErrors(t *testing.T) {
	const path = "/apis/example.org/v1"
	send := func(ctx context.Context, tr *Transport, method, path string) {
		req, err := http.NewRequestWithContext(ctx, method, tr.URL()+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := tr.RoundTrip(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	cases := map[string]struct {
		reason string
		code   int
		// send sends a request that fails, and then one to which there is no response.
		send func(ctx context.Context, tr *Transport)
	}{
		"Discovery": {reason: "Discovery sends another request after an error.", code: http.StatusNotFound, send: func(ctx context.Context, tr *Transport) {
			get, err := notfound.Getter(&rest.Config{Host: tr.URL(), Transport: tr})
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = notfound.Served(ctx, get, schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"})
		}},
		"Write": {reason: "A write that failed is followed by a read.", code: http.StatusNotFound, send: func(ctx context.Context, tr *Transport) {
			send(ctx, tr, http.MethodPatch, path)
			send(ctx, tr, http.MethodGet, "/apis")
		}},
		"Inner": {reason: "The next request has a Hold of its own.", code: http.StatusNotFound, send: func(ctx context.Context, tr *Transport) {
			send(ctx, tr, http.MethodGet, path)
			ctx, done := decoding.Hold(ctx)
			defer done()
			send(ctx, tr, http.MethodGet, "/apis")
		}},
		"Unusual": {reason: "Clients read an error from a response with an unusual code.", code: 299, send: func(ctx context.Context, tr *Transport) {
			send(ctx, tr, http.MethodGet, path)
			send(ctx, tr, http.MethodGet, "/apis")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hangs, end := make(chan struct{}), make(chan struct{})
			_, silent := newTLS(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path {
					close(hangs)
					<-end
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, strings.Repeat("{", 60<<10)) // It becomes 19 MiB.
			})
			_, other := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, strings.Repeat("x", 2*mib)) // It becomes 8 MiB.
			})
			budget := decoding.New(32 * mib) // 24 MiB for what is decoded.
			first, second := newTransport(t, silent, Options{Budget: budget}), newTransport(t, other, Options{Budget: budget})
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				ctx, done := decoding.Hold(t.Context())
				defer done()
				tc.send(ctx, first)
			}()
			<-hangs
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if content, _, err := get(ctx, second, other.Host); len(content) != 2*mib || err != nil {
				t.Errorf("%s\nwant the list of another cluster, got %d bytes and %v", tc.reason, len(content), err)
			}
			close(end)
			<-sent
		})
	}
}
