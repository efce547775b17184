// SPDX-License-Identifier: Apache-2.0

package ocitest

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// The credentials for a server that requires them.
const (
	User     = "ann"
	Password = "s3cr3t"
)

// A Server is a registry or chart repository that counts its requests, can require credentials and can misbehave.
type Server struct {
	*httptest.Server

	inner http.Handler

	// mu guards the fields below.
	mu       sync.Mutex
	requests []string
	headers  []http.Header
	user     string
	password string
	fault    func(w http.ResponseWriter, r *http.Request) bool
}

// NewServer starts a server that forwards requests to inner.
func NewServer(tb testing.TB, inner http.Handler, tls bool) *Server {
	tb.Helper()
	s := &Server{inner: inner}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	tb.Cleanup(s.Close)
	return s
}

// NewRegistry starts a registry that speaks plain HTTP.
func NewRegistry(tb testing.TB, o ...registry.Option) *Server {
	tb.Helper()
	return NewServer(tb, registry.New(append(o, registry.Logger(log.New(io.Discard, "", 0)))...), false)
}

// NewTLSRegistry starts a registry that speaks TLS.
func NewTLSRegistry(tb testing.TB) *Server {
	tb.Helper()
	return NewServer(tb, registry.New(registry.Logger(log.New(io.Discard, "", 0))), true)
}

// ServeHTTP counts a request and responds to it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.headers = append(s.headers, r.Header.Clone())
	u, p, fault := s.user, s.password, s.fault
	s.mu.Unlock()
	if gotUser, gotPassword, _ := r.BasicAuth(); u != "" && (gotUser != u || gotPassword != p) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if fault != nil && fault(w, r) {
		return
	}
	s.inner.ServeHTTP(w, r)
}

// Demand makes the server require credentials.
func (s *Server) Demand(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.password = user, password
}

// Misbehave lets f handle requests first; f returns true if it has written the response.
func (s *Server) Misbehave(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Forget resets the recorded requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.headers = nil, nil
}

// Count returns how many requests began with prefix and contained part.
func (s *Server) Count(prefix, part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.HasPrefix(r, prefix) && strings.Contains(r, part) {
			n++
		}
	}
	return n
}

// SawCredentials reports whether any request had an Authorization header.
func (s *Server) SawCredentials() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.headers {
		if h.Get("Authorization") != "" {
			return true
		}
	}
	return false
}

// Host returns host:port.
func (s *Server) Host() string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

// CA returns the certificate of a server that uses TLS, in PEM.
func (s *Server) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Plain returns a list of registries with only this one, over plain HTTP and with the given credentials.
func (s *Server) Plain(user, password string) oci.Registries {
	return oci.Registries{{Host: s.Host(), PlainHTTP: true, Username: user, Password: password}}
}

// Send sends a request to the server's handler directly, without authentication or counting.
func (s *Server) Send(tb testing.TB, method, path, contentType string, body []byte) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.inner.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		tb.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

// Push stores a blob in the registry and returns its digest.
func (s *Server) Push(tb testing.TB, repo string, data []byte) string {
	tb.Helper()
	d := oci.DigestOf(data)
	s.Send(tb, http.MethodPost, "/v2/"+repo+"/blobs/uploads/?digest="+d, "application/octet-stream", data)
	return d
}

type layer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

// PushManifest stores a manifest with one layer in the registry under tag, and returns its digest.
func (s *Server) PushManifest(tb testing.TB, repo, tag, configType, layerType string, data []byte) string {
	tb.Helper()
	config := []byte(`{"name":"sample","version":"1.2.3+build"}`)
	m, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.manifest.v1+json",
		"config":        layer{configType, s.Push(tb, repo, config), len(config)},
		"layers":        []layer{{layerType, s.Push(tb, repo, data), len(data)}},
		"annotations":   map[string]string{"org.opencontainers.image.version": "1.2.3+build"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.Send(tb, http.MethodPut, "/v2/"+repo+"/manifests/"+tag, "application/vnd.oci.image.manifest.v1+json", m)
	return oci.DigestOf(m)
}

// PushIndex stores an index of one manifest in the registry, and returns its digest.
func (s *Server) PushIndex(tb testing.TB, repo, manifest string) string {
	tb.Helper()
	index := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[`+
		`{"digest":%q,"size":1,"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`, manifest)
	s.Send(tb, http.MethodPut, "/v2/"+repo+"/manifests/index", "application/vnd.oci.image.index.v1+json", index)
	return oci.DigestOf(index)
}

// Requests returns the method and path of each request.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Headers returns the headers of each request.
func (s *Server) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.headers)
}
