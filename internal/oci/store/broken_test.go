// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// TestCopyInterrupted checks that the next attempt completes a copy that was interrupted at any request, and that nothing is
// tagged before it exists.
func TestCopyInterrupted(t *testing.T) {
	dir := t.TempDir()
	for kind, pull := range map[string]bool{"Push": false, "Pull": true} {
		t.Run(kind, func(t *testing.T) {
			s := newServer(t)
			source := repositoryAt(t, s, "source")
			root := storetest.Artifact(t, source, "1", "one", 5, nil)
			storetest.Artifact(t, source, store.FallbackTag(string(root.Digest))+".sig", "signature", 1, nil)
			for at := 1; ; at++ {
				target := s
				if !pull {
					target = newServer(t)
				}
				var n atomic.Int32
				broken := func(_ http.ResponseWriter, r *http.Request) bool {
					if int(n.Add(1)) < at || !strings.HasPrefix(r.URL.Path, "/v2/") {
						return false
					}
					panic(http.ErrAbortHandler)
				}
				open := func() store.Store { return repositoryAt(t, target, "target") }
				path := filepath.Join(dir, fmt.Sprint("layout", at))
				if pull {
					open = func() store.Store { return newLayout(t, path) }
				}
				to := open()
				target.Misbehave(broken)
				_, err := store.Copy(t.Context(), repositoryAt(t, s, "source"), "1", to, store.CopyOptions{Tag: "x", Attachments: true})
				target.Misbehave(nil)
				if err == nil {
					if at < 10 {
						t.Fatalf("only %d requests", at)
					}
					return
				}
				if l, ok := to.(*layout.Store); ok {
					mustClose(t, l)
				}
				to = open()
				if _, _, err := to.Manifest(t.Context(), "x"); err == nil {
					// The failed request might be the last request for the tag.
					if _, _, err := to.Manifest(t.Context(), store.FallbackTag(string(root.Digest))+".sig"); err != nil {
						t.Errorf("request %d: tagged before it was complete", at)
					}
				}
				if _, err := store.Copy(t.Context(), source, "1", to, store.CopyOptions{Tag: "x", Attachments: true}); err != nil {
					t.Fatalf("request %d: the next try: %v", at, err)
				}
				m, _, err := to.Manifest(t.Context(), "x")
				if err != nil {
					t.Fatal(err)
				}
				p, _ := store.ParseManifest(m)
				for _, d := range p.Content() {
					if _, err := store.ReadBlob(t.Context(), to, string(d.Digest), 0); err != nil {
						t.Errorf("request %d: %v", at, err)
					}
				}
			}
		})
	}
}

// TestCopyTransient checks that a copy succeeds if each request fails once.
func TestCopyTransient(t *testing.T) {
	source := newLayout(t, filepath.Join(t.TempDir(), "layout"))
	storetest.Artifact(t, source, "1", "one", 5, nil)
	for name, fail := range map[string]func(w http.ResponseWriter){
		"503":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"429":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"Abort": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			var seen sync.Map
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				path := r.URL.Path
				if strings.Contains(path, "/uploads/") {
					path = r.Method + "uploads"
				}
				if _, again := seen.LoadOrStore(r.Method+path, true); again {
					return false
				}
				fail(w)
				return true
			})
			to := repositoryAt(t, s, "to")
			if _, err := store.Copy(t.Context(), source, "1", to, store.CopyOptions{Tag: "x"}); err != nil {
				t.Error(err)
			}
			if _, err := store.Copy(t.Context(), to, "x", newLayout(t, filepath.Join(t.TempDir(), "back")), store.CopyOptions{Tag: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCopyProgress(t *testing.T) {
	s := newServer(t)
	source := newLayout(t, filepath.Join(t.TempDir(), "layout"))
	root := storetest.Artifact(t, source, "1", "one", 8, nil)
	storetest.Artifact(t, source, "", "attached", 2, &root)
	// Uploads fail once, and are restarted.
	var failed sync.Map
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/uploads/") {
			return false
		}
		if _, again := failed.LoadOrStore(r.URL.Query().Get("digest"), true); !again {
			_, _ = io.CopyN(io.Discard, r.Body, 10)
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	var last, all int64
	o := store.CopyOptions{Tag: "x", Attachments: true, Progress: func(done, total int64) {
		if done < last || done > total || all != 0 && total != all {
			t.Errorf("progress: %d of %d after %d of %d", done, total, last, all)
		}
		last, all = done, total
	}}
	got, err := store.Copy(t.Context(), source, "1", repositoryAt(t, s, "to"), o)
	if err != nil || last != all || got.Bytes != all {
		t.Errorf("Copy(...): %+v, %v; progress ended at %d of %d", got, err, last, all)
	}
}

// TestCopyCancel checks that a copy can be stopped immediately at any point.
func TestCopyCancel(t *testing.T) {
	from := newServer(t)
	storetest.Artifact(t, repositoryAt(t, from, "source"), "1", "one", 3, nil)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
		t.Run(method, func(t *testing.T) {
			s := newServer(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			over := make(chan struct{})
			defer close(over)
			s.Misbehave(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != method || r.URL.Path == "/v2/" {
					return false
				}
				cancel()
				select {
				case <-r.Context().Done():
				case <-over:
				}
				return true
			})
			defer s.Misbehave(nil)
			start := time.Now()
			_, err := store.Copy(ctx, repositoryAt(t, from, "source"), "1", repositoryAt(t, s, "to"), store.CopyOptions{Tag: "x"})
			if !errors.Is(err, context.Canceled) || time.Since(start) > time.Minute {
				t.Errorf("Copy(...): %v after %s", err, time.Since(start))
			}
		})
	}
}

// A panickingStore panics when a blob is requested.
type panickingStore struct{ store.Store }

func (panickingStore) Has(context.Context, string) (bool, error) { panic("a bad response") }

// TestCopySurvivesPanics checks that if a store panics on a blob, the copy returns an error.
func TestCopySurvivesPanics(t *testing.T) {
	s := newServer(t)
	storetest.Artifact(t, repositoryAt(t, s, "source"), "1", "one", 3, nil)
	_, err := store.Copy(t.Context(), repositoryAt(t, s, "source"), "1", panickingStore{repositoryAt(t, s, "to")}, store.CopyOptions{Tag: "x"})
	if !panics.Is(err) || !strings.Contains(text(err), "blob sha256:") {
		t.Errorf("Copy(...): want the error of a panic that names the blob, got %v", err)
	}
}
