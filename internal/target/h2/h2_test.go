// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// start starts a server of net/http, and returns its URL and a client that uses this package.
func start(t *testing.T, h http.HandlerFunc) (string, *http.Client) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, &http.Client{Transport: poolOf(t, s, func(t *http.Transport) { t.IdleConnTimeout = 50 * time.Millisecond })}
}

// poolOf returns a Pool for a server, whose http.Transports are changed by a function. It is closed at the end of the test.
func poolOf(t *testing.T, s *httptest.Server, change func(*http.Transport)) *Pool {
	t.Helper()
	server, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := rootsOf(s)
	p, err := New(server, func() (*http.Transport, error) {
		out := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		change(out)
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// rootsOf returns the certificate authority of a server.
func rootsOf(s *httptest.Server) *x509.CertPool {
	return s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}

// post sends a request with a body.
func post(ctx context.Context, c *http.Client, url, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}

// TestRequests compares responses with those of net/http.
func TestRequests(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 200_000)
	cases := map[string]struct {
		reason  string
		method  string
		body    io.Reader
		handler http.HandlerFunc
	}{
		"Get": {reason: "A small response has a length.", handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Method+" "+r.Host[:9]+" "+r.URL.String())
		}},
		"Empty":     {reason: "A response can be empty.", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
		"NotFound":  {reason: "Errors are responses.", handler: http.NotFound},
		"Head":      {reason: "HEAD has a length and no body.", method: http.MethodHead, handler: http.NotFound},
		"EmptyPost": {reason: "A request can be empty.", method: http.MethodPost, handler: echo},
		"Post":      {reason: "A request can have a body.", method: http.MethodPost, body: strings.NewReader("hello"), handler: echo},
		"Large":     {reason: "Bodies can be larger than the windows.", method: http.MethodPut, body: strings.NewReader(large), handler: echo},
		"Unknown":   {reason: "The length of a body can be unknown.", method: http.MethodPut, body: io.MultiReader(strings.NewReader(large)), handler: echo},
		"Early": {reason: "A response can be complete before the request.", method: http.MethodPut, body: strings.NewReader(large),
			handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusRequestEntityTooLarge) }},
		"Headers": {reason: "Headers can be larger than a frame.", handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Large", large[:50_000]+strconv.Itoa(len(r.Header.Get("X-Large"))))
		}},
		"Informational": {reason: "Informational responses come before the response.", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "x")
		}},
		"Trailers": {reason: "A response can have trailers.", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-End")
			_, _ = io.WriteString(w, "x")
			w.Header().Set("X-End", "y")
		}},
		"Compressed": {reason: "A response can be compressed.", handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, large)
			_ = z.Close()
		}},
		"Cut": {reason: "A response can be incomplete.", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
	}
	type result struct {
		Code, Length int
		Body         string
		Header       http.Header
		Failed       bool
	}
	send := func(t *testing.T, c *http.Client, method, url string, body io.Reader) result {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Large", strings.Repeat("x", 50_000))
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.ProtoMajor != 2 {
			t.Errorf("want HTTP/2, got %s", resp.Proto)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Header.Del("Date")
		return result{Code: resp.StatusCode, Length: int(resp.ContentLength), Body: string(b), Header: resp.Header, Failed: err != nil}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(tc.handler)
			s.EnableHTTP2 = true
			s.StartTLS()
			defer s.Close()
			own := &http.Client{Transport: poolOf(t, s, func(*http.Transport) {})}
			theirs := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: rootsOf(s)}, ForceAttemptHTTP2: true}}
			defer theirs.CloseIdleConnections()
			var copies [2]io.Reader
			if tc.body != nil {
				b, _ := io.ReadAll(tc.body)
				copies = [2]io.Reader{bytes.NewReader(b), bytes.NewReader(b)}
				if name == "Unknown" {
					copies = [2]io.Reader{io.MultiReader(copies[0]), io.MultiReader(copies[1])}
				}
			}
			want, got := send(t, theirs, tc.method, s.URL+"/a?b=c", copies[0]), send(t, own, tc.method, s.URL+"/a?b=c", copies[1])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nresponse: -want, +got:\n%.2000s", tc.reason, diff)
			}
		})
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Length", strconv.FormatInt(r.ContentLength, 10))
	_, _ = io.Copy(w, r.Body)
}

// TestConcurrent checks that requests share one connection, and do not mix their data.
func TestConcurrent(t *testing.T) {
	url, c := start(t, echo)
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			body := strings.Repeat(strconv.Itoa(i)+" ", 1000*(i+1))
			resp, err := post(t.Context(), c, url, body)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != body {
				t.Errorf("request %d: got %d of %d bytes, and %v", i, len(b), len(body), err)
			}
		})
	}
	all.Wait()
}

// TestReuse checks that a connection with a stream is used for all requests, however old it is.
func TestReuse(t *testing.T) {
	const idle = 50 * time.Millisecond
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/watch" {
			<-r.Context().Done()
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	opened := atomic.Int64{}
	p := poolOf(t, s, func(t *http.Transport) {
		t.IdleConnTimeout, t.DialContext = idle, func(ctx context.Context, network, address string) (net.Conn, error) {
			opened.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	})
	url, c := s.URL, &http.Client{Transport: p}
	watch, err := post(t.Context(), c, url+"/watch", "")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	// A connection can be idle for too long before its first stream.
	opened.Store(0)
	for range 3 {
		time.Sleep(2 * idle)
		resp, err := post(t.Context(), c, url, "")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	if n := opened.Load(); n != 0 {
		t.Errorf("want no other connection, got %d", n)
	}
}

// A waiter receives a value when it is woken. It takes one text.
type waiter chan struct{}

func (w waiter) Wake() { w <- struct{}{} }

func (waiter) Take(data []byte) bool { return string(data) == "taken" }

func (waiter) Patience() time.Duration { return 0 }

// TestIdle checks that a body reports when there is something to read, which its waiter does not take, and that a context ends it.
func TestIdle(t *testing.T) {
	next := make(chan string)
	url, c := start(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case s := <-next:
				_, _ = io.WriteString(w, s)
			case <-r.Context().Done():
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, ok := resp.Body.(interface{ Idle(w Waiter) bool })
	if !ok {
		t.Fatalf("a body of type %T has no method Idle", resp.Body)
	}
	woken := make(waiter, 1)
	for _, want := range []string{"a", "b"} {
		if !body.Idle(woken) {
			t.Fatal("want it to be idle")
		}
		next <- "taken"
		next <- want
		<-woken
		if body.Idle(woken) {
			t.Error("want it not to be idle while there is something to read")
		}
		b := make([]byte, 10)
		if n, err := resp.Body.Read(b); string(b[:n]) != want || err != nil {
			t.Errorf("Read(...): got %q and %v", b[:n], err)
		}
	}
	if !body.Idle(woken) {
		t.Fatal("want it to be idle")
	}
	cancel()
	<-woken
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Read(...): want %v, got %v", context.Canceled, err)
	}
}
