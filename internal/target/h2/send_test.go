// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
)

// A countedConn counts its writes.
type countedConn struct {
	net.Conn

	writes atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b) //nolint:wrapcheck // It is a test.
}

// TestSendCheck checks that the check of a request runs immediately before each write, and that nothing is sent after it fails.
func TestSendCheck(t *testing.T) {
	errCheck := errors.New("this process no longer leads")
	cases := map[string]struct {
		reason string
		body   string
		// stream is true if the length of the body is unknown.
		stream bool
		// passes is the number of checks that succeed.
		passes int
		// window is the number of bytes that the server accepts.
		window uint32
		// checks and writes are the numbers of both. received is the number of bytes that the server receives.
		checks, writes, received int
		// want is the error of the request, and reset is true if the client ends it.
		want  error
		reset bool
	}{
		"Empty":    {reason: "A request without a body is one write.", passes: 1, window: 100, checks: 1, writes: 1},
		"Small":    {reason: "A small body is sent together with the headers.", body: "hello", passes: 1, window: 100, checks: 1, writes: 1, received: 5},
		"Refused":  {reason: "A request that is refused is not sent.", body: "hello", window: 100, checks: 1, want: errCheck},
		"Window":   {reason: "A small body is split if the window requires it.", body: "hello", passes: 9, window: 2, checks: 2, writes: 2, received: 5},
		"Rest":     {reason: "The rest of a body is not sent if it is refused.", body: "hello", passes: 1, window: 2, checks: 2, writes: 1, received: 2, want: errCheck, reset: true},
		"Stream":   {reason: "A body of an unknown length follows the headers.", body: "hello", stream: true, passes: 9, window: 100, checks: 2, writes: 2, received: 5},
		"Stopped":  {reason: "A body of an unknown length can be refused after the headers.", body: "hello", stream: true, passes: 1, window: 100, checks: 2, writes: 1, want: errCheck, reset: true},
		"NoWindow": {reason: "The headers are sent even if the server does not accept a body yet.", body: "hello", passes: 9, checks: 2, writes: 2, received: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer far.Close()
				counted := &countedConn{Conn: near}
				s, c := peerOf(far), newConn(&Pool{}, counted, nil)
				go c.run()
				synctest.Wait()
				if err := s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: tc.window}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				begun, checks := counted.writes.Load(), 0
				ctx := sendcheck.With(t.Context(), func() error {
					if checks++; checks > tc.passes {
						return errCheck
					}
					return nil
				})
				var body io.Reader = strings.NewReader(tc.body)
				if tc.stream {
					body = io.MultiReader(body)
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.org/", body)
				if err != nil {
					t.Fatal(err)
				}
				result := make(chan error, 1)
				go func() {
					resp, err := c.RoundTrip(req)
					if err == nil {
						_ = resp.Body.Close()
					}
					result <- err
				}()
				synctest.Wait()
				if tc.checks > 1 && tc.window < 5 {
					if err := s.WriteWindowUpdate(firstID, 100); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				resets := len(s.ends)
				if writes := int(counted.writes.Load()-begun) - resets; checks != tc.checks || writes != tc.writes {
					t.Errorf("\n%s\nwant %d checks and %d writes, got %d and %d", tc.reason, tc.checks, tc.writes, checks, writes)
				}
				s.mu.Lock()
				if n := s.received[firstID]; n != tc.received {
					t.Errorf("\n%s\nwant the server to receive %d bytes, got %d", tc.reason, tc.received, n)
				}
				s.mu.Unlock()
				if reset := resets > 0; reset != tc.reset {
					t.Errorf("\n%s\nwant the request to be reset: %t, got %t", tc.reason, tc.reset, reset)
				}
				if tc.want == nil {
					if err := s.respond(firstID, true, ":status", "200"); err != nil {
						t.Fatal(err)
					}
				}
				err = <-result
				if refused := (*sendcheck.Error)(nil); !errors.Is(err, tc.want) || errors.As(err, &refused) != (tc.want != nil) {
					t.Errorf("\n%s\nwant the error %v, got %v", tc.reason, tc.want, err)
				}
				if !c.available() {
					t.Errorf("\n%s\nwant the connection to remain available", tc.reason)
				}
				c.fail(errClosed)
			})
		})
	}
}

// TestSendCheckAfterEncryption checks that a check runs again between the encryption and the network, and what happens if it then fails.
func TestSendCheckAfterEncryption(t *testing.T) {
	errCheck := errors.New("this process no longer leads")
	received, opened := atomic.Int64{}, atomic.Int64{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			received.Add(1)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	p := poolOf(t, s, func(t *http.Transport) {
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			opened.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	})
	url, c := s.URL, &http.Client{Transport: p}
	cases := []struct {
		reason string
		body   string
		// passes is the number of checks that succeed, and checks the number that run.
		passes, checks     int
		want               error
		received, requests int64
	}{
		{reason: "The check runs before and after the encryption.", body: "hello", passes: 9, checks: 2, received: 1, requests: 1},
		{reason: "If the second check fails, the request is not sent.", body: "hello", passes: 1, checks: 2, want: errCheck, received: 1, requests: 1},
		{reason: "The next request opens a new connection. The closed one is forgotten.", body: "hello", passes: 9, checks: 2, received: 2, requests: 2},
		{reason: "If the rest of a large body is refused, the connection is closed, too.", body: strings.Repeat("x", 20_000), passes: 3, checks: 4, want: errCheck, received: 2, requests: 2},
	}
	for _, tc := range cases {
		checks := 0
		resp, err := post(sendcheck.With(t.Context(), func() error {
			if checks++; checks > tc.passes {
				return errCheck
			}
			return nil
		}), c, url, tc.body)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, tc.want) || checks != tc.checks {
			t.Errorf("\n%s\nwant %d checks and the error %v, got %d and %v", tc.reason, tc.checks, tc.want, checks, err)
		}
		if received.Load() != tc.received || opened.Load() != tc.requests {
			t.Errorf("\n%s\nwant %d requests to be received on %d connections, got %d on %d", tc.reason, tc.received, tc.requests, received.Load(), opened.Load())
		}
	}
}

// TestWrongLength checks that a request whose body does not have the announced length is not sent.
func TestWrongLength(t *testing.T) {
	cases := map[string]struct {
		reason string
		length int64
	}{
		"Short": {reason: "A body that ends too early is an error.", length: 6},
		"Long":  {reason: "A body that is too long is an error.", length: 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, c := newPeer(t, &Pool{}, true)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.org/", strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = tc.length
			if _, err := c.RoundTrip(req); !errors.Is(err, errLength) { //nolint:bodyclose // There is no response.
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, errLength, err)
			}
			if c.next != firstID {
				t.Errorf("\n%s\nwant no stream to be opened", tc.reason)
			}
		})
	}
}
