// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestBlobIsolation holds that the cache gives nobody what the registry would not.
func TestBlobIsolation(t *testing.T) {
	private, dir := newRegistry(t), t.TempDir()
	digest := private.push(t, repo, chartArchive(t, "private"))
	private.demand(user, password)
	p := newPuller(t, WithCacheDir(dir))
	if _, err := p.Blob(t.Context(), private.plain(user, password), private.host()+"/"+repo, digest); err != nil {
		t.Fatal(err)
	}
	// The registry of the tests does not tell repositories apart.
	private.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/v2/other/") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	})
	// This one says yes to everything, but does not have it.
	liar := newRegistry(t)
	liar.misbehave(func(_ http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodHead })

	cases := map[string]struct {
		reason string
		regs   Registries
		repo   string
		err    string
	}{
		"OtherCredentials": {reason: "Wrong credentials are asked for again.", regs: private.plain(user, "guessed"), repo: private.host() + "/" + repo, err: "401"},
		"NoCredentials":    {reason: "None as well.", regs: private.plain("", ""), repo: private.host() + "/" + repo, err: "401"},
		"OtherRepository":  {reason: "Rights are rights for a repository.", regs: private.plain(user, password), repo: private.host() + "/other", err: "404"},
		"OtherRegistry":    {reason: "A registry cannot vouch for what another one delivered.", regs: liar.plain("", ""), repo: liar.host() + "/" + repo, err: "404"},
		"NotListed":        {reason: "A list is a refusal even of what is cached.", regs: Registries{{Host: "example.org"}}, repo: private.host() + "/" + repo, err: "not in the list of registries"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := p.Blob(t.Context(), tc.regs, tc.repo, digest)
			if got != nil || !strings.Contains(text(err), tc.err) || err == nil {
				t.Errorf("\n%s\nBlob(...): got %d bytes, error %q does not contain %q", tc.reason, len(got), text(err), tc.err)
			}
		})
	}
	t.Run("Typed", func(t *testing.T) {
		private.forget()
		_, err := p.Blob(t.Context(), Registries{{Host: "example.org"}}, private.host()+"/"+repo, digest)
		var e *RegistryNotAllowedError
		if !errors.As(err, &e) || e.Host != private.host() || private.count("", "") != 0 {
			t.Errorf("Blob(...): want a RegistryNotAllowedError for %q and no request, got %v and %d", private.host(), err, private.count("", ""))
		}
	})
}

// TestBlobRedirect holds that content is fetched from elsewhere without credentials.
func TestBlobRedirect(t *testing.T) {
	data := chartArchive(t, "elsewhere")
	elsewhere := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }), false)
	s := newRegistry(t)
	s.demand(user, password)
	s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, elsewhere.URL+"/x?signature=secret", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	got, err := newPuller(t).Blob(t.Context(), s.plain(user, password), s.host()+"/"+repo, digestOf(data))
	if err != nil || !cmp.Equal(data, got) {
		t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
	}
	if !s.sawCredentials() || elsewhere.count("GET", "/x") != 1 || elsewhere.sawCredentials() {
		t.Errorf("credentials: registry %t, want true; elsewhere %t, want false", s.sawCredentials(), elsewhere.sawCredentials())
	}
	elsewhere.misbehave(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	_, err = newPuller(t).Blob(t.Context(), s.plain(user, password), s.host()+"/"+repo, digestOf(data))
	if !strings.Contains(text(err), fmt.Sprintf("host %q sent us on: host %q forbids access", s.host(), elsewhere.host())) || strings.Contains(text(err), "secret?") {
		t.Errorf("Blob(...): error %q", text(err))
	}
}

// TestBlobDowngrade holds that HTTPS stays HTTPS.
func TestBlobDowngrade(t *testing.T) {
	elsewhere := newRegistry(t)
	s := newTLSRegistry(t)
	s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	_, err := newPuller(t).Blob(t.Context(), Registries{{Host: s.host(), CABundle: s.ca()}}, s.host()+"/"+repo, digestOf(nil))
	if !strings.Contains(text(err), "redirect from HTTPS to plain HTTP refused") || elsewhere.count("", "") != 0 {
		t.Errorf("Blob(...): error %q, %d requests in plain HTTP", text(err), elsewhere.count("", ""))
	}
}

// TestBlobRotation holds that a login that ends is renewed, and that new
// credentials are used at once.
func TestBlobRotation(t *testing.T) {
	s := newRegistry(t)
	one, two := s.push(t, repo, []byte("one")), s.push(t, repo, []byte("two"))
	home := t.TempDir()
	p := newPuller(t)
	login := func(password string) {
		t.Helper()
		s.demand(user, password)
		c := fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":%q}}}`, s.host(), user, password)
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(c), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DOCKER_CONFIG", home)
	login(password)
	if _, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, one); err != nil {
		t.Errorf("Blob(...) with the docker configuration of the process: %v", err)
	}
	login("rotated")
	if _, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, two); err != nil {
		t.Errorf("Blob(...) after rotation: %v", err)
	}
}

// TestBlobToken holds that token services are used, and are given the
// credentials of the registry.
func TestBlobToken(t *testing.T) {
	s := newRegistry(t)
	data := chartArchive(t, "token")
	digest := s.push(t, repo, data)
	s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			u, p, _ := r.BasicAuth()
			if u == user && p == password && r.URL.Query().Get("scope") == "repository:"+repo+":pull" {
				fmt.Fprint(w, `{"token":"t0ken"}`)
				return true
			}
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="x"`, s.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	p := newPuller(t)
	got, err := p.Blob(t.Context(), s.plain(user, password), s.host()+"/"+repo, digest)
	if err != nil || !cmp.Equal(data, got) {
		t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
	}
	if _, err := p.Blob(t.Context(), s.plain(user, "wrong"), s.host()+"/"+repo, digest); !strings.Contains(text(err), "403 Forbidden") {
		t.Errorf("Blob(...) with wrong credentials: error %q", text(err))
	}
}
