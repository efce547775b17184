// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A countingBody counts how often it was closed.
type countingBody struct {
	io.Reader

	closed atomic.Int64
	err    error
}

func (b *countingBody) Close() error {
	b.closed.Add(1)
	return b.err
}

// TestValidate checks which requests are refused, with which message, and that their bodies are closed.
func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*http.Request)
		want   string
	}{
		"NoURL":  {reason: "A URL is needed.", change: func(r *http.Request) { r.URL = nil }, want: "the request has no URL"},
		"Host":   {reason: "A connection is used only for the server to which it was opened.", change: func(r *http.Request) { r.URL.Host = "example.org" }, want: "a connection to example.com:443 cannot be used for a request to https://example.org"},
		"Port":   {reason: "Another port is another server.", change: func(r *http.Request) { r.URL.Host = "example.com:8443" }, want: "a connection to example.com:443 cannot be used for a request to https://example.com:8443"},
		"Scheme": {reason: "Without TLS, the credentials would be readable.", change: func(r *http.Request) { r.URL.Scheme = "http" }, want: "a connection to example.com:443 cannot be used for a request to http://example.com"},
		"Method": {reason: "A method is a token.", change: func(r *http.Request) { r.Method = "GET /" }, want: `the method of the request is invalid: "GET /"`},
		"Name":   {reason: "A header could contain another one.", change: func(r *http.Request) { r.Header["A: b\r\nC"] = []string{"d"} }, want: `the name of a header of the request is invalid: "A: b\r\nC"`},
		"Value":  {reason: "The value can be secret, so the message does not contain it.", change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer a\nb") }, want: "the value of header Authorization of the request is invalid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := New(&url.URL{Scheme: "https", Host: "example.com"}, func() (*http.Transport, error) { return &http.Transport{}, nil })
			if err != nil {
				t.Fatal(err)
			}
			body := &countingBody{Reader: strings.NewReader("x")}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", body)
			if err != nil {
				t.Fatal(err)
			}
			tc.change(req)
			resp, err := p.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
				t.Fatalf("%s\nwant an error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("\n%s\nRoundTrip(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if n := body.closed.Load(); n != 1 {
				t.Errorf("%s\nwant the body to be closed once, got %d", tc.reason, n)
			}
		})
	}
}

// TestAgain checks when a request can be sent again, and with which body.
func TestAgain(t *testing.T) {
	errBroken := errors.New("broken")
	another := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("again")), nil }
	type want struct {
		Body   string
		Closed int64
		Err    string
	}
	cases := map[string]struct {
		reason  string
		used    func(io.ReadCloser)
		getBody func() (io.ReadCloser, error)
		err     error
		want    want
	}{
		"Unused": {reason: "A body that was not used is sent, even if it can only be read once.", used: func(io.ReadCloser) {}, want: want{Body: "first"}},
		"Read":   {reason: "A body that was read is replaced.", used: func(b io.ReadCloser) { _, _ = b.Read(make([]byte, 1)) }, getBody: another, want: want{Body: "again", Closed: 1}},
		"Closed": {reason: "So is one that was closed, which is not closed again.", used: func(b io.ReadCloser) { _ = b.Close() }, getBody: another, want: want{Body: "again", Closed: 1}},
		"Once": {reason: "A body that can only be read once cannot be sent again.", used: func(b io.ReadCloser) { _, _ = b.Read(make([]byte, 1)) },
			want: want{Closed: 1, Err: "cannot send the body of the request again, because it can only be read once"}},
		"GetBody": {reason: "The body may not be available anymore.", used: func(b io.ReadCloser) { _ = b.Close() },
			getBody: func() (io.ReadCloser, error) { return nil, errBroken }, want: want{Closed: 1, Err: "cannot send the body of the request again: broken"}},
		"Close": {reason: "A body that cannot be closed may still be in use.", used: func(b io.ReadCloser) { _, _ = b.Read(make([]byte, 1)) },
			getBody: another, err: errBroken, want: want{Closed: 1, Err: "cannot send the body of the request again: broken"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := &countingBody{Reader: strings.NewReader("first"), err: tc.err}
			original, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", body)
			if err != nil {
				t.Fatal(err)
			}
			original.GetBody = tc.getBody
			req := withBody(original, original.Body)
			tc.used(req.Body)
			got := want{}
			next, err := again(req)
			if err != nil {
				got.Err = err.Error()
			} else {
				b, _ := io.ReadAll(next.Body)
				got.Body = string(b)
			}
			got.Closed = body.closed.Load()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nagain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEndsConnections checks that a server that ends each new connection causes at most one for each request, and that all bodies are closed once.
func TestEndsConnections(t *testing.T) {
	const requests = 8
	helper := httptest.NewTLSServer(nil)
	defer helper.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: helper.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opened := atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			opened.Add(1)
			_ = c.(*tls.Conn).HandshakeContext(t.Context())
			_ = c.Close()
		}
	}()
	p, err := New(&url.URL{Scheme: "https", Host: l.Addr().String()}, func() (*http.Transport, error) {
		return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: rootsOf(helper), MinVersion: tls.VersionTLS12}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	bodies, all := make([]*countingBody, requests), sync.WaitGroup{}
	for i := range bodies {
		bodies[i] = &countingBody{Reader: strings.NewReader("x")}
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+l.Addr().String(), bodies[i])
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := p.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
				t.Error("want an error")
			}
		})
	}
	all.Wait()
	if n := opened.Load(); n > requests {
		t.Errorf("want at most %d connections, got %d", requests, n)
	}
	for i, b := range bodies {
		if n := b.closed.Load(); n != 1 {
			t.Errorf("want body %d to be closed once, got %d", i, n)
		}
	}
}
