// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// TestBlobIsolation checks that the cache only returns content that the registry would return to the same caller.
func TestBlobIsolation(t *testing.T) {
	private, dir := ocitest.NewRegistry(t), t.TempDir()
	digest := private.Push(t, repo, ocitest.Chart(t, "private"))
	private.Demand(user, password)
	p := newClient(t, WithCacheDir(dir))
	if _, err := p.Blob(t.Context(), private.Plain(user, password), private.Host()+"/"+repo, digest); err != nil {
		t.Fatal(err)
	}
	// The test registry does not distinguish repositories.
	private.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/v2/other/") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	})
	// This registry reports that it has everything, although it has nothing.
	liar := ocitest.NewRegistry(t)
	liar.Misbehave(func(_ http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodHead })

	cases := map[string]struct {
		reason string
		regs   oci.Registries
		repo   string
		err    string
	}{
		"OtherCredentials": {reason: "Wrong credentials are asked for again.", regs: private.Plain(user, "guessed"), repo: private.Host() + "/" + repo, err: "401"},
		"NoCredentials":    {reason: "A tenant without credentials cannot read cached content.", regs: private.Plain("", ""), repo: private.Host() + "/" + repo, err: "401"},
		"OtherRepository":  {reason: "Rights are rights for a repository.", regs: private.Plain(user, password), repo: private.Host() + "/other", err: "404"},
		"OtherRegistry":    {reason: "A registry cannot vouch for what another one delivered.", regs: liar.Plain("", ""), repo: liar.Host() + "/" + repo, err: "404"},
		"NotListed":        {reason: "A list is a refusal even of what is cached.", regs: oci.Registries{{Host: "example.org"}}, repo: private.Host() + "/" + repo, err: "add it to spec.registries"},
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
		private.Forget()
		_, err := p.Blob(t.Context(), oci.Registries{{Host: "example.org"}}, private.Host()+"/"+repo, digest)
		var e *oci.RegistryNotAllowedError
		if !errors.As(err, &e) || e.Host != private.Host() || private.Count("", "") != 0 {
			t.Errorf("Blob(...): want a RegistryNotAllowedError for %q and no request, got %v and %d", private.Host(), err, private.Count("", ""))
		}
	})
}

// TestBlobRedirect checks that content is fetched from another host without credentials.
func TestBlobRedirect(t *testing.T) {
	data := ocitest.Chart(t, "elsewhere")
	elsewhere := ocitest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }), false)
	s := ocitest.NewRegistry(t)
	s.Demand(user, password)
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, elsewhere.URL+"/x?signature=secret", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	got, err := newClient(t).Blob(t.Context(), s.Plain(user, password), s.Host()+"/"+repo, oci.DigestOf(data))
	if err != nil || !cmp.Equal(data, got) {
		t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
	}
	if !s.SawCredentials() || elsewhere.Count("GET", "/x") != 1 || elsewhere.SawCredentials() {
		t.Errorf("credentials: registry %t, want true; elsewhere %t, want false", s.SawCredentials(), elsewhere.SawCredentials())
	}
	elsewhere.Misbehave(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	_, err = newClient(t).Blob(t.Context(), s.Plain(user, password), s.Host()+"/"+repo, oci.DigestOf(data))
	if !strings.Contains(text(err), fmt.Sprintf("host %q redirected the request: host %q denies access", s.Host(), elsewhere.Host())) || strings.Contains(text(err), "secret?") {
		t.Errorf("Blob(...): error %q", text(err))
	}
}

// TestBlobDowngrade checks that HTTPS is never downgraded to HTTP.
func TestBlobDowngrade(t *testing.T) {
	elsewhere := ocitest.NewRegistry(t)
	s := ocitest.NewTLSRegistry(t)
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	_, err := newClient(t).Blob(t.Context(), oci.Registries{{Host: s.Host(), CABundle: s.CA()}}, s.Host()+"/"+repo, oci.DigestOf(nil))
	if !strings.Contains(text(err), "refusing a redirect from HTTPS to plain HTTP") || elsewhere.Count("", "") != 0 {
		t.Errorf("Blob(...): error %q, %d requests in plain HTTP", text(err), elsewhere.Count("", ""))
	}
}

// TestBlobRotation checks that an expired login is renewed, and that new credentials are used immediately.
func TestBlobRotation(t *testing.T) {
	s := ocitest.NewRegistry(t)
	one, two := s.Push(t, repo, []byte("one")), s.Push(t, repo, []byte("two"))
	home := t.TempDir()
	p := newClient(t)
	login := func(password string) {
		t.Helper()
		s.Demand(user, password)
		c := fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":%q}}}`, s.Host(), user, password)
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(c), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DOCKER_CONFIG", home)
	login(password)
	if _, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, one); err != nil {
		t.Errorf("Blob(...) with the docker configuration of the process: %v", err)
	}
	login("rotated")
	if _, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, two); err != nil {
		t.Errorf("Blob(...) after rotation: %v", err)
	}
}

// TestBlobToken checks that token services are used, and receive the credentials of the registry.
func TestBlobToken(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := ocitest.Chart(t, "token")
	digest := s.Push(t, repo, data)
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
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
	p := newClient(t)
	got, err := p.Blob(t.Context(), s.Plain(user, password), s.Host()+"/"+repo, digest)
	if err != nil || !cmp.Equal(data, got) {
		t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
	}
	if _, err := p.Blob(t.Context(), s.Plain(user, "wrong"), s.Host()+"/"+repo, digest); !strings.Contains(text(err), "403 Forbidden") {
		t.Errorf("Blob(...) with wrong credentials: error %q", text(err))
	}
}
