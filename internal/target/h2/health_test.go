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

// TestUnavailable checks that a connection that the server closes before it was used fails one request, and no more: a Pool
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
				s, c := newPeer(t, &Pool{idle: time.Minute}, true)
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
				p := &Pool{idle: 90 * time.Second, ping: 30 * time.Second, lost: 15 * time.Second}
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

// A patient waiter takes everything, and waits for a limited time.
type patient struct {
	waiter

	most time.Duration
}

func (patient) Take([]byte) bool          { return true }
func (p patient) Patience() time.Duration { return p.most }

// TestStalledStream checks when an idle stream ends although the server responds to pings.
func TestStalledStream(t *testing.T) {
	cases := map[string]struct {
		reason string
		most   time.Duration
		// regular is true if the server sends data about each minute.
		regular bool
		want    error
	}{
		"Silent":  {reason: "A server that sends data regularly, and then none, has stalled.", most: 5 * time.Minute, want: io.ErrUnexpectedEOF},
		"Regular": {reason: "A stream with regular data continues.", most: 5 * time.Minute, regular: true},
		"Quiet":   {reason: "A server that never sends data need not do so."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newPeer(t, &Pool{ping: 30 * time.Second, lost: 15 * time.Second}, true)
				responses := make(chan *http.Response)
				go func() {
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
					resp, err := c.RoundTrip(req) //nolint:bodyclose // The stream is closed below.
					if err != nil {
						t.Error(err)
					}
					responses <- resp
				}()
				id := <-s.opened
				synctest.Wait() // The server acknowledges the settings in another goroutine.
				if err := s.respond(id, false, ":status", "200"); err != nil {
					t.Fatal(err)
				}
				st := (<-responses).Body.(*stream)
				// The server responds to pings in another goroutine, with the buffer of its own framer.
				data := http2.NewFramer(s.conn, nil)
				w := patient{waiter: make(waiter, 1), most: tc.most}
				if !st.Idle(w) {
					t.Fatal("want it to be idle")
				}
				for range 60 {
					time.Sleep(time.Minute)
					if tc.regular {
						if err := data.WriteData(id, false, []byte("x")); err != nil {
							t.Fatal(err)
						}
					}
				}
				synctest.Wait()
				c.mu.Lock()
				err := st.err
				c.mu.Unlock()
				if !errors.Is(err, tc.want) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, err)
				}
				if woken := len(w.waiter) == 1; woken != (tc.want != nil) {
					t.Errorf("%s\nwant the waiter to be woken only at the end, got %t", tc.reason, woken)
				}
				if !c.available() {
					t.Errorf("%s\nwant the connection to stay open", tc.reason)
				}
				c.fail(errClosed)
			})
		})
	}
}

// TestHeard checks when a quiet connection is tested for a caller, and when the caller is informed.
func TestHeard(t *testing.T) {
	cases := map[string]struct {
		reason string
		pings  bool
		quiet  time.Duration
		// want is when the caller is informed, or negative if it need not wait.
		want time.Duration
		err  error
	}{
		"Fresh":  {reason: "A server that has just sent something is not tested.", quiet: time.Second, want: -1},
		"Quiet":  {reason: "A server responds to the ping.", pings: true, quiet: 10 * time.Second},
		"Silent": {reason: "Without a response, the connection ends as after any ping.", quiet: 10 * time.Second, want: 15 * time.Second, err: errLost},
		"Pinged": {
			reason: "A connection that is being tested is not tested again.", quiet: 35 * time.Second, want: 10 * time.Second, err: errLost,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool{ping: 30 * time.Second, lost: 15 * time.Second}
				_, c := newPeer(t, p, tc.pings)
				time.Sleep(tc.quiet)
				begin, heard := time.Now(), p.Heard(2*time.Second)
				if (heard == nil) != (tc.want < 0) {
					t.Fatalf("%s\nwant a channel: %t, got %t", tc.reason, tc.want >= 0, heard != nil)
				}
				if heard != nil {
					if p.Heard(2*time.Second) != heard {
						t.Errorf("%s\nwant the same channel for all callers", tc.reason)
					}
					<-heard
					if got := time.Since(begin); got != tc.want {
						t.Errorf("%s\nwant the caller to be informed after %s, got %s", tc.reason, tc.want, got)
					}
					if p.Heard(2*time.Second) != nil {
						t.Errorf("%s\nwant no other test", tc.reason)
					}
				}
				c.mu.Lock()
				err := c.err
				c.mu.Unlock()
				if !errors.Is(err, tc.err) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.err, err)
				}
				c.fail(errClosed)
			})
		})
	}
}
