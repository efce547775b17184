// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// pipes is a listener whose connections are pipes, so that they work in a bubble of synctest.
type pipes struct {
	accepted chan net.Conn
	closed   context.Context
	close    context.CancelFunc
}

func newPipes(t *testing.T) *pipes {
	t.Helper()
	p := &pipes{accepted: make(chan net.Conn)}
	p.closed, p.close = context.WithCancel(t.Context())
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.accepted <- far
	return near
}

// pipedPool returns a Pool for a server at https://example.com/, whose connections are opened by a function.
func pipedPool(t *testing.T, s *httptest.Server, dial func(context.Context) (net.Conn, error)) *Pool {
	t.Helper()
	roots := rootsOf(s)
	p, err := New(&url.URL{Scheme: "https", Host: "example.com"}, func() (*http.Transport, error) {
		c := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		return &http.Transport{TLSClientConfig: c, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOpening checks how many connections are opened for requests that are sent at the same time, while there is no connection.
func TestOpening(t *testing.T) {
	const requests = 6
	errRefused := errors.New("refused")
	type want struct {
		// Dials is the number of connections that were opened. Done, Refused and Canceled are numbers of requests.
		Dials, Done, Refused, Canceled int
	}
	cases := map[string]struct {
		reason string
		http1  bool
		// fail is the error of all dials.
		fail error
		// cancel is true if the first request is canceled while it opens the connection, and late if the others are.
		cancel, late bool
		want         want
	}{
		"HTTP2":    {reason: "All requests share one connection.", want: want{Dials: 1, Done: requests}},
		"HTTP1":    {reason: "Requests that can't share a connection don't wait for each other, but only until it is known that they can't.", http1: true, want: want{Dials: requests + 1, Done: requests}},
		"Refused":  {reason: "If the connection can't be opened, all requests fail at once.", fail: errRefused, want: want{Dials: 1, Refused: requests}},
		"Canceled": {reason: "If the request that opens the connection is canceled, the others use it.", cancel: true, want: want{Dials: 1, Done: requests - 1, Canceled: 1}},
		"Late":     {reason: "Requests that wait for a connection can be canceled.", late: true, want: want{Dials: 1, Done: 1, Canceled: requests - 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := make(chan struct{})
				dials, arrived := atomic.Int64{}, atomic.Int64{}
				l := newPipes(t)
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					// Without HTTP/2, this needs a connection for each request.
					if arrived.Add(1) == int64(tc.want.Done) {
						close(all)
					}
					<-all
					_, _ = io.WriteString(w, "hello")
				}))
				s.Listener, s.EnableHTTP2, s.Config.ErrorLog = l, !tc.http1, log.New(io.Discard, "", 0)
				s.StartTLS()
				p := pipedPool(t, s, func(ctx context.Context) (net.Conn, error) {
					dials.Add(1)
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if tc.fail != nil {
						return nil, tc.fail
					}
					return l.dial(), nil
				})

				got, mu, ends, bodies := want{}, sync.Mutex{}, sync.WaitGroup{}, []*closing{}
				send := func(canceled bool) {
					ctx, cancel := context.WithCancel(t.Context())
					if canceled {
						time.AfterFunc(time.Second/2, cancel)
					}
					body := &closing{Reader: strings.NewReader("x")}
					bodies = append(bodies, body)
					ends.Go(func() {
						defer cancel()
						req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", body)
						resp, err := p.RoundTrip(req)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							got.Done++
							_, _ = io.Copy(io.Discard, resp.Body)
							_ = resp.Body.Close()
						case errors.Is(err, context.Canceled):
							got.Canceled++
						case errors.Is(err, errRefused):
							got.Refused++
						default:
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				send(tc.cancel)
				for range requests - 1 {
					send(tc.late)
				}
				ends.Wait()
				if got.Dials = int(dials.Load()); cmp.Diff(tc.want, got) != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, cmp.Diff(tc.want, got))
				}
				synctest.Wait()
				for _, body := range bodies {
					if !body.closed {
						t.Error("want all bodies to be closed")
					}
				}
				if p.opening != nil {
					t.Error("want no opening to be left")
				}
				p.Close()
				s.CloseClientConnections()
				s.Close()
			})
		})
	}
}
