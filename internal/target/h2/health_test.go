// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestUnavailable checks that a connection that the server closes before it was used fails one request, and no more: an http.Transport
// tries the next one on another connection.
func TestUnavailable(t *testing.T) {
	cases := map[string]struct {
		reason string
		server func(s *peer) error
		want   error
	}{
		"Closed": {reason: "The server closes each new connection.", server: func(s *peer) error { return s.conn.Close() }, want: io.ErrUnexpectedEOF},
		"GoAway": {reason: "The server shuts down.", server: func(s *peer) error { return s.WriteGoAway(0, http2.ErrCodeNo, nil) }, want: errGoAway},
		"Full": {reason: "The server accepts no requests.", want: errGoAway, server: func(s *peer) error {
			return s.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		}},
		"Idle": {reason: "A connection that this end closed fails no request.", server: func(*peer) error { time.Sleep(time.Hour); return nil }, want: errUnused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newPeer(t, &pool{idle: time.Minute}, true)
				synctest.Wait()
				if err := tc.server(s); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for i, want := range []error{tc.want, errUnused, errUnused} {
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
					if _, err := c.RoundTrip(req); !errors.Is(err, want) { //nolint:bodyclose // There is no response.
						t.Errorf("%s\nrequest %d: want %v, got %v", tc.reason, i, want, err)
					}
				}
				c.fail(errClosed)
			})
		})
	}
}

// TestHealth checks when a quiet connection is closed.
func TestHealth(t *testing.T) {
	cases := map[string]struct {
		reason string
		pings  bool
		stream bool
		want   error
		after  time.Duration
	}{
		"Answers": {reason: "A server that responds to pings keeps its connection.", pings: true, stream: true},
		"Silent":  {reason: "A server that does not respond to pings is unreachable.", stream: true, want: errLost, after: 45 * time.Second},
		"Unused":  {reason: "A connection without streams is closed.", pings: true, want: errIdle, after: 90 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pool{idle: 90 * time.Second, ping: 30 * time.Second, lost: 15 * time.Second}
				s, c := newPeer(t, p, tc.pings)
				if tc.stream {
					go func() {
						req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
						_, _ = c.RoundTrip(req) //nolint:bodyclose // It gets no response.
					}()
					<-s.opened
				}
				synctest.Wait()
				if tc.want != nil {
					time.Sleep(tc.after - time.Second)
				} else {
					time.Sleep(time.Hour)
				}
				if !c.available() {
					t.Errorf("%s\nwant the connection to be open, got %v", tc.reason, c.err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				c.mu.Lock()
				err := c.err
				c.mu.Unlock()
				if !errors.Is(err, tc.want) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, err)
				}
				c.fail(errClosed)
			})
		})
	}
}
