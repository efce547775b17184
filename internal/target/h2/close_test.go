// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestClose checks that requests fail when a Pool is closed, and that no connection remains open, whatever the Pool does at this time.
func TestClose(t *testing.T) {
	const dialTime = time.Second
	cases := map[string]struct {
		reason string
		// after is the time between the beginning of a request, which never ends, and Close.
		after time.Duration
		// deaf is true if dialing does not end with its context.
		deaf bool
		// http1 is true if the server has no HTTP/2.
		http1 bool
	}{
		"HTTP1":   {reason: "Without HTTP/2, a connection that is opened for a request is not used.", after: 3 * dialTime / 2, deaf: true, http1: true},
		"Opening": {reason: "While a connection is opened, this ends.", after: dialTime / 2},
		"Deaf":    {reason: "A connection that is opened nevertheless is closed.", after: dialTime / 2, deaf: true},
		"Open":    {reason: "A running request ends.", after: 2 * dialTime},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes(t)
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
				s.Listener, s.EnableHTTP2, s.Config.ErrorLog = l, !tc.http1, log.New(io.Discard, "", 0)
				s.StartTLS()
				p := pipedPool(t, s, func(ctx context.Context) (net.Conn, error) {
					if tc.deaf {
						ctx = context.WithoutCancel(ctx)
					}
					select {
					case <-time.After(dialTime):
						return l.dial(), nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				})
				get := func() error {
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
					resp, err := p.RoundTrip(req)
					if err == nil {
						err = errors.New("want no response")
						_ = resp.Body.Close()
					}
					return err
				}
				ended := make(chan error, 1)
				go func() { ended <- get() }()
				time.Sleep(tc.after)
				p.Close()
				for what, err := range map[string]error{"the running request": <-ended, "a new request": get()} {
					if !errors.Is(err, net.ErrClosed) {
						t.Errorf("%s\nwant %s to fail with %v, got %v", tc.reason, what, net.ErrClosed, err)
					}
				}
				time.Sleep(10 * dialTime)
				if p.IsOpen() && !tc.http1 {
					t.Errorf("%s\nwant no connection", tc.reason)
				}
				// It waits until the connections are closed.
				s.Close()
			})
		})
	}
}

// TestOpeningEnds checks that an opening does not take longer than its limit, even if requests wait for longer, that they get the same error, and that
// the next request causes another opening.
func TestOpeningEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		p, err := New(&url.URL{Scheme: "https", Host: "example.com"}, func() (*http.Transport, error) {
			return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				dials++
				<-ctx.Done()
				return nil, ctx.Err()
			}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		errs, all := [3]error{}, sync.WaitGroup{}
		start := time.Now()
		for i := range errs {
			all.Go(func() {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
				_, errs[i] = p.RoundTrip(req) //nolint:bodyclose // There is no response.
			})
			synctest.Wait()
		}
		all.Wait()
		if took := time.Since(start); took != openTime || dials != 1 {
			t.Errorf("want one dial to end after %s, got %d after %s", openTime, dials, took)
		}
		for _, err := range errs {
			if e := net.Error(nil); err != errs[0] || !errors.As(err, &e) || !e.Timeout() || errors.Is(err, context.DeadlineExceeded) { //nolint:errorlint // It must be the same value.
				t.Errorf("want all requests to fail with the same timeout of the network, got %v", err)
			}
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
		if _, err := p.RoundTrip(req); !errors.Is(err, errSlow) || dials != 2 { //nolint:bodyclose // There is no response.
			t.Errorf("want another dial that takes too long, got %d and %v", dials, err)
		}
	})
}

// TestBuild checks that errors of the function that returns an http.Transport arrive, and that New does not waste the first one.
func TestBuild(t *testing.T) {
	errBuild := errors.New("the certificate is gone")
	refused := errors.New("refused")
	if _, err := New(&url.URL{Scheme: "https", Host: "example.com"}, func() (*http.Transport, error) { return nil, errBuild }); !errors.Is(err, errBuild) {
		t.Errorf("New(...): want %v, got %v", errBuild, err)
	}
	builds := 0
	p, err := New(&url.URL{Scheme: "https", Host: "example.com"}, func() (*http.Transport, error) {
		if builds++; builds > 1 {
			return nil, errBuild
		}
		return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{refused, errBuild} {
		body := &closing{Reader: http.NoBody}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", body)
		if _, err := p.RoundTrip(req); !errors.Is(err, want) || !body.closed { //nolint:bodyclose // There is no response.
			t.Errorf("RoundTrip(...): want %v and a closed body, got %v and %t", want, err, body.closed)
		}
	}
}

// TestSwitch checks that a server that was replaced by one with another version of HTTP is used as such, after a request has failed meanwhile.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *pipes
		p, got := (*Pool)(nil), []string{}
		send := func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
			resp, err := p.RoundTrip(req)
			if err != nil {
				got = append(got, "failed")
				return
			}
			got = append(got, resp.Proto)
			_ = resp.Body.Close()
		}
		for _, h2 := range []bool{false, true, false} {
			l = newPipes(t)
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Listener, s.EnableHTTP2, s.Config.ErrorLog = l, h2, log.New(io.Discard, "", 0)
			s.StartTLS()
			if p == nil {
				p = pipedPool(t, s, func(context.Context) (net.Conn, error) {
					if l.closed.Err() != nil {
						return nil, syscall.ECONNREFUSED
					}
					return l.dial(), nil
				})
				defer p.Close()
			}
			send()
			send()
			s.CloseClientConnections()
			s.Close()
			send()
		}
		want := []string{"HTTP/1.1", "HTTP/1.1", "failed", "HTTP/2.0", "HTTP/2.0", "failed", "HTTP/1.1", "HTTP/1.1", "failed"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("responses: -want, +got:\n%s", diff)
		}
	})
}

// TestNegotiatesAgain checks that a server that never fails a request is used with HTTP/2 some time after it supports it.
func TestNegotiatesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(h2 bool) (*pipes, *httptest.Server) {
			l := newPipes(t)
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Listener, s.EnableHTTP2, s.Config.ErrorLog = l, h2, log.New(io.Discard, "", 0)
			s.StartTLS()
			return l, s
		}
		l, s := serve(false)
		p := pipedPool(t, s, func(context.Context) (net.Conn, error) { return l.dial(), nil })
		defer p.Close()
		send := func() string {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
			resp, err := p.RoundTrip(req)
			if err != nil {
				return err.Error()
			}
			_ = resp.Body.Close()
			return resp.Proto
		}
		got := []string{send()}
		s.CloseClientConnections()
		s.Close()
		l, s = serve(true)
		got = append(got, send())
		time.Sleep(plainTime)
		got = append(got, send(), send())
		if diff := cmp.Diff([]string{"HTTP/1.1", "HTTP/1.1", "HTTP/2.0", "HTTP/2.0"}, got); diff != "" {
			t.Errorf("responses: -want, +got:\n%s", diff)
		}
		p.Close()
		s.CloseClientConnections()
		s.Close()
	})
}

// TestDraining checks a connection on which the server accepts no more requests, while one is running: no other request uses it, Close ends it, and it ends
// after the request.
func TestDraining(t *testing.T) {
	cases := map[string]struct {
		reason string
		drain  func(s *peer) error
	}{
		"GoAway": {reason: "The server shuts down.", drain: func(s *peer) error { return s.WriteGoAway(firstID, http2.ErrCodeNo, nil) }},
		"Full": {reason: "A server that accepts no requests anymore must not get a connection for each of them.", drain: func(s *peer) error {
			return s.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		}},
	}
	for name, tc := range cases {
		for _, closes := range []bool{false, true} {
			t.Run(name+strconv.FormatBool(closes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &Pool{address: "example.org:443"}
					s, c := newPeer(t, p, true)
					body, id := answered(t.Context(), t, s, c, false)
					if err := tc.drain(s); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
					if _, err := c.RoundTrip(req); !errors.Is(err, errUnused) { //nolint:bodyclose // There is no response.
						t.Errorf("%s\nwant %v, got %v", tc.reason, errUnused, err)
					}
					want := io.EOF
					if closes {
						want = net.ErrClosed
						p.Close()
					} else if err := s.WriteData(id, true, nil); err != nil {
						t.Fatal(err)
					}
					if _, err := body.Read(make([]byte, 1)); !errors.Is(err, want) {
						t.Errorf("%s\nRead(...): want %v, got %v", tc.reason, want, err)
					}
					synctest.Wait()
					if len(p.conns) > 0 {
						t.Errorf("%s\nwant no connection to be left", tc.reason)
					}
				})
			})
		}
	}
}
