// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestServers checks that a Pool connects as an http.Transport does.
func TestServers(t *testing.T) {
	type want struct {
		Proto, Body string
		Unknown     bool
		Tunnels     int
	}
	cases := map[string]struct {
		reason string
		http1  bool
		// proxy is the scheme of a proxy, or empty.
		proxy string
		noCA  bool
		want  want
	}{
		"HTTP2":     {reason: "A server can support HTTP/2.", want: want{Proto: "HTTP/2.0", Body: "hello"}},
		"HTTP1":     {reason: "A server that doesn't support HTTP/2 gets HTTP/1.1.", http1: true, want: want{Proto: "HTTP/1.1", Body: "hello"}},
		"Proxy":     {reason: "A proxy forwards a connection, which all requests use.", proxy: "http", want: want{Proto: "HTTP/2.0", Body: "hello", Tunnels: 1}},
		"TLSProxy":  {reason: "A proxy can have TLS, within which is that of the server.", proxy: "https", want: want{Proto: "HTTP/2.0", Body: "hello", Tunnels: 1}},
		"SOCKS":     {reason: "A proxy can be one for SOCKS5.", proxy: "socks5", want: want{Proto: "HTTP/2.0", Body: "hello", Tunnels: 1}},
		"Proxy1":    {reason: "A proxy can forward HTTP/1.1. The connection with which the pool finds this out is not used.", proxy: "http", http1: true, want: want{Proto: "HTTP/1.1", Body: "hello", Tunnels: 2}},
		"Authority": {reason: "The certificate is checked.", noCA: true, want: want{Unknown: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
			s.EnableHTTP2 = !tc.http1
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			defer s.Close()
			got, proxied := want{}, []string{}
			proxy := startProxy(t, tc.proxy, &got.Tunnels)
			c := &http.Client{Transport: poolOf(t, s, func(t *http.Transport) {
				if tc.noCA {
					t.TLSClientConfig.RootCAs = x509.NewCertPool()
				}
				if tc.proxy != "" {
					t.Proxy = func(r *http.Request) (*url.URL, error) {
						proxied = append(proxied, r.URL.Host)
						return proxy, nil
					}
				}
			})}
			for range 3 {
				resp, err := post(t.Context(), c, s.URL, "hello")
				if e := (x509.UnknownAuthorityError{}); errors.As(err, &e) {
					got.Unknown = true
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				b, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				got.Proto, got.Body = resp.Proto, string(b)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nresponses: -want, +got:\n%s", tc.reason, diff)
			}
			for _, host := range proxied {
				if "https://"+host != s.URL {
					t.Errorf("\n%s\nwant a proxy for %s, got one for %s", tc.reason, s.URL, host)
				}
			}
		})
	}
}

// startProxy starts a proxy for a scheme, which counts its connections, and returns its URL.
func startProxy(t *testing.T, scheme string, n *int) *url.URL {
	t.Helper()
	var s *httptest.Server
	switch scheme {
	case "https":
		s = httptest.NewTLSServer(tunnel(n))
	case "socks5":
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				*n++
				go socks(c)
			}
		}()
		return &url.URL{Scheme: scheme, Host: l.Addr().String()}
	default:
		s = httptest.NewServer(tunnel(n))
	}
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// socks connects a client of SOCKS5 to the IPv4 address that it asks for (RFC 1928).
func socks(near net.Conn) {
	defer near.Close()
	hello := make([]byte, 3) // Version 5, one method, which is: no authentication.
	if _, err := io.ReadFull(near, hello); err != nil {
		return
	}
	_, _ = near.Write([]byte{5, 0})
	request := make([]byte, 10) // Version 5, connect, reserved, IPv4, address, port.
	if _, err := io.ReadFull(near, request); err != nil {
		return
	}
	far, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: request[4:8], Port: int(request[8])<<8 | int(request[9])})
	if err != nil {
		return
	}
	defer far.Close()
	_, _ = near.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() { _, _ = io.Copy(far, near) }()
	_, _ = io.Copy(near, far)
}

// tunnel returns a proxy that counts its connections.
func tunnel(n *int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*n++
		far, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer far.Close()
		near, _, _ := w.(http.Hijacker).Hijack()
		defer near.Close()
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(far, near) }()
		_, _ = io.Copy(near, far)
	})
}

func TestAddressOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		url    string
		want   string
	}{
		"Port":    {reason: "A URL can have a port.", url: "https://example.org:6443/a", want: "example.org:6443"},
		"Default": {reason: "The default is 443.", url: "https://example.org", want: "example.org:443"},
		"Unicode": {reason: "A host can have characters that are not ASCII.", url: "https://BÜCHER.example/", want: "xn--bcher-kva.example:443"},
		"IPv6":    {reason: "An IPv6 address has brackets.", url: "https://[::1]/", want: "[::1]:443"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			if got := addressOf(u); got != tc.want {
				t.Errorf("%s\naddressOf(%s): want %s, got %s", tc.reason, tc.url, tc.want, got)
			}
		})
	}
}

// TestRetry checks that a request that a server did not process is sent again as a whole, on another connection, and that a request that
// it may have processed is not.
func TestRetry(t *testing.T) {
	const size = 100_000
	cases := map[string]struct {
		reason string
		end    func(s *peer, id uint32) error
		want   int
	}{
		"GoAway":  {reason: "The server shuts down.", end: func(s *peer, _ uint32) error { return s.WriteGoAway(1, http2.ErrCodeNo, nil) }, want: size},
		"Refused": {reason: "The server refuses the request.", end: func(s *peer, id uint32) error { return s.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, want: size},
		"Closed":  {reason: "The server may have processed the request before it closed the connection.", end: func(s *peer, _ uint32) error { return s.conn.Close() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			helper := httptest.NewTLSServer(nil)
			defer helper.Close()
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: helper.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			next := make(chan *peer, 10)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					s := peerOf(c)
					_ = s.WriteSettings()
					next <- s
				}
			}()
			server := &url.URL{Scheme: "https", Host: l.Addr().String()}
			p, err := New(server, func() (*http.Transport, error) {
				return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: rootsOf(helper), MinVersion: tls.VersionTLS12}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			begin := func() chan error {
				done := make(chan error, 1)
				go func() {
					resp, err := post(t.Context(), &http.Client{Transport: p}, server.String(), strings.Repeat("x", size))
					if err == nil {
						err = resp.Body.Close()
					}
					done <- err
				}()
				return done
			}
			do := func(errs ...error) {
				t.Helper()
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
			}
			first := begin()
			s := <-next
			defer s.conn.Close()
			do(s.respond(<-s.opened, true, ":status", "200"), <-first)
			second := begin()
			do(tc.end(s, <-s.opened))
			if tc.want == 0 {
				if err := <-second; err == nil {
					t.Errorf("%s\nwant an error", tc.reason)
				}
				return
			}
			other := <-next
			defer other.conn.Close()
			id := <-other.opened
			do(other.WriteWindowUpdate(0, size), other.WriteWindowUpdate(id, size))
			if got := <-other.complete; got != tc.want {
				t.Errorf("%s\nwant %d bytes, got %d", tc.reason, tc.want, got)
			}
			do(other.respond(id, true, ":status", "200"), <-second)
		})
	}
}
