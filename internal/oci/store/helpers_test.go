// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// A server is a registry that counts what it is asked and can misbehave.
type server struct {
	*httptest.Server

	inner http.Handler

	// mu guards all below.
	mu       sync.Mutex
	requests []string
	fault    func(w http.ResponseWriter, r *http.Request) bool
}

func newServer(tb testing.TB, o ...registry.Option) *server {
	tb.Helper()
	for _, v := range []string{"DOCKER_CONFIG", "HOME"} {
		tb.Setenv(v, tb.TempDir())
	}
	for _, v := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		tb.Setenv(v, "")
	}
	s := &server{inner: registry.New(append(o, registry.Logger(log.New(io.Discard, "", 0)))...)}
	s.Server = httptest.NewServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	tb.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	s.inner.ServeHTTP(w, r)
}

func (s *server) misbehave(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// count returns how many requests had one of the methods.
func (s *server) count(methods ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		for _, m := range methods {
			if strings.HasPrefix(r, m+" ") {
				n++
			}
		}
	}
	return n
}

func (s *server) host() string { return strings.TrimPrefix(s.URL, "http://") }

func (s *server) store(tb testing.TB, path string) *remote {
	tb.Helper()
	r, err := NewRemote(s.host()+"/"+path, oci.Registries{{Host: s.host(), PlainHTTP: true}})
	if err != nil {
		tb.Fatal(err)
	}
	hasten(r)
	return r.(*remote)
}

func hasten(s Store) {
	r := s.(*remote)
	for i := range r.pauses {
		r.pauses[i] = time.Millisecond
	}
}

func opener(data []byte) func(int64) (io.ReadCloser, error) {
	return func(offset int64) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data[offset:])), nil }
}

func put(tb testing.TB, to Store, data []byte) v1.Descriptor {
	tb.Helper()
	d := v1.Descriptor{MediaType: octets, Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
	if err := to.PutBlob(tb.Context(), Content{MediaType: octets, Digest: string(d.Digest), Size: d.Size}, opener(data)); err != nil {
		tb.Fatal(err)
	}
	return d
}

func putManifest(tb testing.TB, to Store, m any, tag string) v1.Descriptor {
	tb.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	if err := to.PutManifest(tb.Context(), data, tag); err != nil {
		tb.Fatal(err)
	}
	p, err := parseManifest(data)
	if err != nil {
		tb.Fatal(err)
	}
	return v1.Descriptor{MediaType: p.MediaType, Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
}

// artifact puts a manifest with some layers, and returns it. Content tells one from another.
func artifact(tb testing.TB, to Store, tag, content string, layers int, subject *v1.Descriptor) v1.Descriptor {
	tb.Helper()
	m := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Subject: subject}
	m.Config = put(tb, to, []byte(`{"of":"`+content+`"}`))
	m.Layers = []v1.Descriptor{}
	for i := range layers {
		m.Layers = append(m.Layers, put(tb, to, bytes.Repeat(fmt.Appendf(nil, "%s %d\n", content, i), 1000)))
	}
	return putManifest(tb, to, m, tag)
}

// multi puts an index of two artifacts.
func multi(tb testing.TB, to Store, tag string) v1.Descriptor {
	tb.Helper()
	i := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for _, arch := range []string{"amd64", "arm64"} {
		d := artifact(tb, to, "", arch, 1, nil)
		d.Platform = &v1.Platform{OS: "linux", Architecture: arch}
		i.Manifests = append(i.Manifests, d)
	}
	return putManifest(tb, to, i, tag)
}

func newLayout(tb testing.TB, path string) *Layout {
	tb.Helper()
	l, err := CreateLayout(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Discard() })
	return l
}

func openLayout(tb testing.TB, path string) *Layout {
	tb.Helper()
	l, err := OpenLayout(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func mustClose(tb testing.TB, l *Layout) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

// filesOf lists the files below a folder.
func filesOf(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
