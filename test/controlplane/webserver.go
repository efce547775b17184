// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"crypto/subtle"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// WebOptions configure how a registry or chart repository is served.
type WebOptions struct {
	// TLS serves HTTPS with a certificate of the server's own authority.
	TLS bool
	// Username and Password are required from clients unless both are empty.
	Username, Password string
}

// A Fault may respond to a request in place of the server, for example with an error, a redirect, wrong data or a delay.
// It reports whether it has responded.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// A Request is a request that a server received, authorized or not.
type Request struct {
	Method, Path string
	// Authorized means that the request contained credentials.
	Authorized bool
}

// webServer is the common part of a registry and a chart repository.
type webServer struct {
	options WebOptions
	server  *httptest.Server
	ca      *authority
	handler http.Handler

	mu       sync.Mutex
	requests []Request
	fault    Fault
}

func newWebServer(o WebOptions, h http.Handler) (*webServer, error) {
	s := &webServer{options: o, handler: h}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	// Do not log handshakes that fail on purpose.
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if !o.TLS {
		s.server.Start()
		return s, nil
	}
	ca, err := newAuthority("registry")
	if err != nil {
		return nil, err
	}
	serving, err := ca.server()
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(serving.certificate, serving.key)
	if err != nil {
		return nil, errors.Wrap(err, "cannot load a certificate")
	}
	s.ca = ca
	s.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.server.StartTLS()
	return s, nil
}

func (s *webServer) serve(w http.ResponseWriter, r *http.Request) {
	username, password, ok := r.BasicAuth()
	s.mu.Lock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Authorized: r.Header.Get("Authorization") != ""})
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	secured := s.options.Username != "" || s.options.Password != ""
	if secured && (!ok || !same(username, s.options.Username) || !same(password, s.options.Password)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// URL returns the URL of the server, with http:// or https://.
func (s *webServer) URL() string { return s.server.URL }

// Host returns the address of the server as host:port.
func (s *webServer) Host() string { return s.server.Listener.Addr().String() }

// CA returns the certificate of the authority in PEM, or nil without TLS.
func (s *webServer) CA() []byte {
	if s.ca == nil {
		return nil
	}
	return bytes.Clone(s.ca.pem)
}

// Requests returns the requests since the start or the last Reset, in order.
func (s *webServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Reset clears the recorded requests.
func (s *webServer) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// SetFault sets the fault; nil removes it.
func (s *webServer) SetFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Stop stops the server and closes its connections.
func (s *webServer) Stop() {
	s.server.CloseClientConnections()
	s.server.Close()
}
