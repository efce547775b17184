// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// answered sends a request to a peer, and returns the body of the response and the ID of its stream.
func answered(ctx context.Context, t *testing.T, s *peer, c *conn, ends bool) (*stream, uint32) {
	t.Helper()
	responses := make(chan *http.Response)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.org/", nil)
		resp, err := c.RoundTrip(req) //nolint:bodyclose // The connection is closed.
		if err != nil {
			t.Error(err)
		}
		responses <- resp
	}()
	id := <-s.opened
	synctest.Wait() // The server acknowledges the settings in another goroutine.
	if err := s.respond(id, ends, ":status", "200"); err != nil {
		t.Fatal(err)
	}
	return (<-responses).Body.(*stream), id
}

// TestDetach checks what ends the body of a response that is detached from the context of its request for ten minutes.
func TestDetach(t *testing.T) {
	const most = 10 * time.Minute
	type want struct {
		detached bool
		err      error
	}
	cases := map[string]struct {
		reason string
		// ends is true if the response has no body. noPings is true if the connection has no pings.
		ends, noPings bool
		// before and after are called before and after Detach. They can be nil.
		before, after func(cancel context.CancelFunc, s *stream)
		lasts         time.Duration
		want          want
	}{
		"Canceled": {
			reason: "A detached body does not end with the context.", lasts: time.Minute, want: want{detached: true},
			after: func(cancel context.CancelFunc, _ *stream) { cancel() },
		},
		"Limit":  {reason: "A detached body ends at the limit.", lasts: most + 31*time.Second, want: want{detached: true, err: context.DeadlineExceeded}},
		"Before": {reason: "A detached body does not end before the limit.", lasts: most - time.Minute, want: want{detached: true}},
		"Closed": {
			reason: "A detached body can be closed.", lasts: time.Second, want: want{detached: true, err: errClosed},
			after: func(_ context.CancelFunc, s *stream) { _ = s.Close() },
		},
		"Lost": {
			reason: "A detached body ends with the connection.", lasts: time.Second, want: want{detached: true, err: errLost},
			after: func(_ context.CancelFunc, s *stream) { s.conn.fail(errLost) },
		},
		"Late": {
			reason: "A context that has ended ends the body.", lasts: time.Second, want: want{err: context.Canceled},
			before: func(cancel context.CancelFunc, _ *stream) { cancel() },
		},
		"Ended":   {reason: "A body that has ended is not detached.", ends: true, lasts: most + time.Minute, want: want{err: io.EOF}},
		"NoPings": {reason: "Without pings, nothing would end the body at the limit.", noPings: true, lasts: most + time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool{ping: 30 * time.Second, lost: 15 * time.Second}
				if tc.noPings {
					p.ping = 0
				}
				s, c := newPeer(t, p, true)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				st, _ := answered(ctx, t, s, c, tc.ends)
				call(tc.before, cancel, st)
				if got := st.Detach(time.Now().Add(most)); got != tc.want.detached {
					t.Errorf("%s\nDetach(...): want %t, got %t", tc.reason, tc.want.detached, got)
				}
				call(tc.after, cancel, st)
				time.Sleep(tc.lasts)
				synctest.Wait()
				c.mu.Lock()
				err := st.err
				c.mu.Unlock()
				if !errors.Is(err, tc.want.err) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want.err, err)
				}
				c.fail(errClosed)
			})
		})
	}
}

func call(f func(context.CancelFunc, *stream), cancel context.CancelFunc, s *stream) {
	if f != nil {
		f(cancel, s)
		synctest.Wait()
	}
}

// TestDetachedData checks that a detached body receives data, and that the server learns that it is closed.
func TestDetachedData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newPeer(t, &Pool{ping: 30 * time.Second, lost: 15 * time.Second}, true)
		ctx, cancel := context.WithCancel(t.Context())
		st, id := answered(ctx, t, s, c, false)
		if !st.Detach(time.Now().Add(time.Hour)) {
			t.Fatal("want it to be detached")
		}
		cancel()
		synctest.Wait()
		if err := http2.NewFramer(s.conn, nil).WriteData(id, false, []byte("event")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 10)
		if n, err := st.Read(got); string(got[:n]) != "event" || err != nil {
			t.Errorf("Read(...): want the event, got %q and %v", got[:n], err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if code := <-s.ends; code != http2.ErrCodeCancel {
			t.Errorf("want the server to be informed, got %v", code)
		}
		c.fail(errClosed)
	})
}

// TestCheckIsNotPostponed checks that a stream ends at its limit, although callers test its connection again and again.
func TestCheckIsNotPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool{ping: 30 * time.Second, lost: 15 * time.Second}
		s, c := newPeer(t, p, true)
		st, _ := answered(t.Context(), t, s, c, false)
		if !st.Detach(time.Now().Add(time.Minute)) {
			t.Fatal("want it to be detached")
		}
		for range 30 {
			time.Sleep(4 * time.Second)
			p.Heard(2 * time.Second)
		}
		synctest.Wait()
		c.mu.Lock()
		err := st.err
		c.mu.Unlock()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the stream to end within two minutes, got %v", err)
		}
		c.fail(errClosed)
	})
}

// TestForgets checks that a Pool does not keep the http.Transport that has opened its connection, whatever happened to the request that needed it.
func TestForgets(t *testing.T) {
	cases := map[string]struct {
		reason   string
		canceled bool
	}{
		"Sent":     {reason: "Thousands of http.Transports would need memory, one for each cluster."},
		"Canceled": {reason: "A request can end while the connection is opened.", canceled: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.EnableHTTP2 = true
			s.StartTLS()
			defer s.Close()
			built, dialing := []weak.Pointer[http.Transport]{}, make(chan context.CancelFunc, 1)
			p := poolOf(t, s, func(t *http.Transport) {
				built = append(built, weak.Make(t))
				dialer := &net.Dialer{}
				t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					select {
					case cancel := <-dialing:
						if tc.canceled {
							cancel()
						}
					default: // It is not the first dial, and the test fails.
					}
					return dialer.DialContext(ctx, network, address)
				}
			})
			for i := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				if i == 0 {
					dialing <- cancel
				}
				resp, err := post(ctx, &http.Client{Transport: p}, s.URL, "x")
				if err == nil {
					_ = resp.Body.Close()
				}
				cancel()
				if canceled := errors.Is(err, context.Canceled); canceled != (tc.canceled && i == 0) {
					t.Fatalf("%s\nunexpected result of request %d: %v", tc.reason, i+1, err)
				}
			}
			runtime.GC()
			if len(built) != 1 || built[0].Value() != nil {
				t.Errorf("%s\nwant one http.Transport that is not kept, got %d", tc.reason, len(built))
			}
		})
	}
}

// TestSlowDial checks that a connection that is opened after its request has ended is used by the next one.
func TestSlowDial(t *testing.T) {
	cases := map[string]struct {
		reason string
		http2  bool
		// late is the number of requests that end before a connection is open.
		late  int
		dials int64
	}{
		"HTTP2": {reason: "All requests use the connection of the first one.", http2: true, late: 1, dials: 1},
		"HTTP1": {reason: "The first connection only shows that the server has no HTTP/2.", late: 2, dials: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := atomic.Int64{}
				l := newPipes(t)
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				s.Listener, s.EnableHTTP2, s.Config.ErrorLog = l, tc.http2, log.New(io.Discard, "", 0)
				s.StartTLS()
				p := pipedPool(t, s, func(context.Context) (net.Conn, error) {
					dials.Add(1)
					time.Sleep(10 * time.Second)
					return l.dial(), nil
				})
				send := func() error {
					ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
					defer cancel()
					req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
					resp, err := p.RoundTrip(req)
					if err != nil {
						return err
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					return resp.Body.Close()
				}
				for range tc.late {
					if err := send(); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s\nwant the request to take too long, got %v", tc.reason, err)
					}
					time.Sleep(3 * time.Second)
				}
				for range 2 {
					if err := send(); err != nil {
						t.Errorf("%s\nwant the next request to use the connection, got %v", tc.reason, err)
					}
				}
				if n := dials.Load(); n != tc.dials {
					t.Errorf("%s\nwant %d dials, got %d", tc.reason, tc.dials, n)
				}
				p.Close()
				s.CloseClientConnections()
				s.Close()
			})
		})
	}
}
