// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

const (
	user     = "ann"
	password = "s3cr3t"
)

// A server is a registry or chart repository that counts what it is asked, can
// demand credentials and can misbehave.
type server struct {
	*httptest.Server

	inner http.Handler

	// mu guards all below.
	mu       sync.Mutex
	requests []string
	headers  []http.Header
	user     string
	password string
	fault    func(w http.ResponseWriter, r *http.Request) bool
}

func newServer(tb testing.TB, inner http.Handler, tls bool) *server {
	tb.Helper()
	s := &server{inner: inner}
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

func newRegistry(tb testing.TB) *server {
	tb.Helper()
	return newServer(tb, registry.New(registry.Logger(log.New(io.Discard, "", 0))), false)
}

func newTLSRegistry(tb testing.TB) *server {
	tb.Helper()
	return newServer(tb, registry.New(registry.Logger(log.New(io.Discard, "", 0))), true)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (s *server) demand(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.password = user, password
}

func (s *server) misbehave(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// forget starts counting anew.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.headers = nil, nil
}

// count returns how many requests began with prefix and contained part.
func (s *server) count(prefix, part string) int {
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

// sawCredentials tells whether any request had an Authorization header.
func (s *server) sawCredentials() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.headers {
		if h.Get("Authorization") != "" {
			return true
		}
	}
	return false
}

func (s *server) host() string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

func (s *server) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// plain returns the list of registries with only this one.
func (s *server) plain(user, password string) Registries {
	return Registries{{Host: s.host(), PlainHTTP: true, Username: user, Password: password}}
}

func (s *server) send(tb testing.TB, method, path, contentType string, body []byte) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.inner.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		tb.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

// push puts a blob into the registry and returns its digest.
func (s *server) push(tb testing.TB, repo string, data []byte) string {
	tb.Helper()
	d := digestOf(data)
	s.send(tb, http.MethodPost, "/v2/"+repo+"/blobs/uploads/?digest="+d, "application/octet-stream", data)
	return d
}

type layer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

// pushManifest puts a manifest with one layer into the registry under tag, and
// returns its digest.
func (s *server) pushManifest(tb testing.TB, repo, tag, configType, layerType string, data []byte) string {
	tb.Helper()
	config := []byte(`{"name":"sample","version":"1.2.3+build"}`)
	m, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.manifest.v1+json",
		"config":        layer{configType, s.push(tb, repo, config), len(config)},
		"layers":        []layer{{layerType, s.push(tb, repo, data), len(data)}},
		"annotations":   map[string]string{versionAnnotation: "1.2.3+build"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.send(tb, http.MethodPut, "/v2/"+repo+"/manifests/"+tag, "application/vnd.oci.image.manifest.v1+json", m)
	return digestOf(m)
}

func newPuller(tb testing.TB, o ...Option) *Puller {
	tb.Helper()
	// No docker configuration of the developer's machine.
	for _, v := range []string{"DOCKER_CONFIG", "HOME"} {
		tb.Setenv(v, tb.TempDir())
	}
	for _, v := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		tb.Setenv(v, "")
	}
	p, err := NewPuller(o...)
	if err != nil {
		tb.Fatal(err)
	}
	p.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	tb.Cleanup(p.Close)
	return p
}

type tarEntry struct {
	tar.Header

	data string
}

func file(name, data string) tarEntry {
	return tarEntry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))}, data: data}
}

func link(name, target string, kind byte) tarEntry {
	return tarEntry{Header: tar.Header{Name: name, Linkname: target, Typeflag: kind}}
}

func tarOf(tb testing.TB, entries ...tarEntry) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, e.data); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// chartArchive is a small archive; content tells one from another.
func chartArchive(tb testing.TB, content string) []byte {
	tb.Helper()
	return gzipOf(tb, tarOf(tb, file("Chart.yaml", "name: sample\nversion: 1.2.3\n# "+content+"\n")))
}

// text returns the text of err, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
