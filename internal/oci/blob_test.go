// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

const repo = "modules/component-descriptors/kyma-project.io/module/sample"

func TestBlob(t *testing.T) {
	data := chartArchive(t, "blob")
	digest := digestOf(data)
	other := digestOf([]byte("other"))

	cases := map[string]struct {
		reason string
		tls    bool
		demand bool
		// regs gets the registry, whose host is appended the path.
		regs   func(s *server) Registries
		digest string
		want   []byte
		err    string
	}{
		"Anonymous": {
			reason: "Without a list, loopback is spoken to in plain HTTP, as everybody does.",
			regs:   func(*server) Registries { return nil },
			digest: digest, want: data,
		},
		"Plain": {
			reason: "With a list, plain HTTP has to be said.",
			regs:   func(s *server) Registries { return s.plain("", "") },
			digest: digest, want: data,
		},
		"PlainUnsaid": {
			reason: "With a list, nothing falls back to plain HTTP, not even on loopback.",
			regs:   func(s *server) Registries { return Registries{{Host: s.host()}} },
			digest: digest, err: "answers in plain HTTP: set plainHTTP",
		},
		"BasicAuth": {
			reason: "Username and password are used.",
			demand: true,
			regs:   func(s *server) Registries { return s.plain(user, password) },
			digest: digest, want: data,
		},
		"DockerConfig": {
			reason: "A pull secret is used; the longest path that fits wins.",
			demand: true,
			regs: func(s *server) Registries {
				c := fmt.Sprintf(`{"auths":{%q:{"username":"x","password":"y"},%q:{"auth":"YW5uOnMzY3IzdA=="},%q:{"username":"x","password":"z"}}}`,
					s.host(), "https://"+s.host()+"/modules", s.host()+"/other")
				return Registries{{Host: s.host(), PlainHTTP: true, DockerConfig: []byte(c)}}
			},
			digest: digest, want: data,
		},
		"NoCredentials": {
			reason: "The error says what to set.",
			demand: true,
			regs:   func(s *server) Registries { return s.plain("", "") },
			digest: digest, err: "(401 Unauthorized): check pullSecretRef",
		},
		"WrongCredentials": {
			reason: "The error says what to set.",
			demand: true,
			regs:   func(s *server) Registries { return s.plain(user, "wrong") },
			digest: digest, err: "(401 Unauthorized): check pullSecretRef",
		},
		"BadDockerConfig": {
			reason: "A broken pull secret is named, and not quoted.",
			regs: func(s *server) Registries {
				return Registries{{Host: s.host(), PlainHTTP: true, DockerConfig: []byte(`{"auths":{"x":{"auth":"c2VjcmV0"}}}`)}}
			},
			digest: digest, err: "is not a docker configuration",
		},
		"TLS": {
			reason: "The CA bundle of the entry is trusted.",
			tls:    true, demand: true,
			regs: func(s *server) Registries {
				return Registries{{Host: s.host(), CABundle: s.ca(), Username: user, Password: password}}
			},
			digest: digest, want: data,
		},
		"UnknownCA": {
			reason: "Without it, the certificate is not trusted.",
			tls:    true,
			regs:   func(s *server) Registries { return Registries{{Host: s.host()}} },
			digest: digest, err: "signed by an unknown authority: set caBundleSecretRef",
		},
		"UnknownCAWithoutList": {
			reason: "Nothing falls back to plain HTTP with a TLS server.",
			tls:    true,
			regs:   func(*server) Registries { return nil },
			digest: digest, err: "signed by an unknown authority: set caBundleSecretRef",
		},
		"BadCA": {
			reason: "A CA bundle without a certificate is an error of its own.",
			tls:    true,
			regs:   func(s *server) Registries { return Registries{{Host: s.host(), CABundle: []byte("x")}} },
			digest: digest, err: "holds no PEM certificate",
		},
		"PlainToTLS": {
			reason: "The opposite mistake is named as well.",
			tls:    true,
			regs:   func(s *server) Registries { return s.plain("", "") },
			digest: digest, err: "wants TLS: unset plainHTTP",
		},
		"Tag": {
			reason: "A tag can move.",
			regs:   func(*server) Registries { return nil },
			digest: "1.2.3", err: `"1.2.3" is a tag or version`,
		},
		"ShortDigest": {
			reason: "A malformed digest is refused before any request.",
			regs:   func(*server) Registries { return nil },
			digest: "sha256:abc", err: `malformed digest "sha256:abc"`,
		},
		"Missing": {
			reason: "A digest that does not exist is named.",
			regs:   func(*server) Registries { return nil },
			digest: other, err: fmt.Sprintf("has no %q in repository %q (404 Not Found)", other, repo),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newRegistry(t)
			if tc.tls {
				s = newTLSRegistry(t)
			}
			s.push(t, repo, data)
			if tc.demand {
				s.demand(user, password)
			}
			got, err := newPuller(t).Blob(t.Context(), tc.regs(s), s.host()+"/"+repo, tc.digest)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if strings.Contains(text(err), password) || strings.Contains(text(err), "\n") {
				t.Errorf("Blob(...): error tells secrets or has several lines: %q", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBlob(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBlobFaults(t *testing.T) {
	data := []byte(strings.Repeat("blob ", 1000))
	digest := digestOf(data)
	isBlob := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }
	answer := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !isBlob(r) {
				return false
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return true
		}
	}
	first := func(n int, f func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
		var mu sync.Mutex
		return func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if !isBlob(r) || n == 0 {
				return false
			}
			n--
			return f(w, r)
		}
	}
	cut := func(w http.ResponseWriter, r *http.Request) bool {
		if !isBlob(r) {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:100])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}

	cases := map[string]struct {
		reason string
		fault  func(http.ResponseWriter, *http.Request) bool
		limits Limits
		gets   int
		err    string
	}{
		"Forbidden":   {reason: "403 says whose credentials to look at.", fault: answer(403, `{"errors":[{"code":"DENIED","message":"no\nway"}]}`), gets: 1, err: "(403 Forbidden): check pullSecretRef of its entry in registries: DENIED: no way"},
		"TryAgain":    {reason: "Two failures are overcome.", fault: first(2, answer(503, "")), gets: 3},
		"Quota":       {reason: "So are two refusals for going too fast.", fault: first(2, answer(429, "")), gets: 3},
		"Broken":      {reason: "A third failure is reported.", fault: answer(500, "oh no"), gets: 3, err: "answered 500 Internal Server Error: oh no"},
		"CutOnce":     {reason: "A blob that breaks off is pulled again.", fault: first(1, cut), gets: 2},
		"Cut":         {reason: "One that always breaks off is an error.", fault: cut, gets: 3, err: "broke off"},
		"WrongDigest": {reason: "Other content is never returned, nor asked for again.", fault: answer(200, "something else"), gets: 1, err: "delivered other content: digest does not match: asked for " + digest},
		"TooLarge":    {reason: "A blob is bounded by what it says.", limits: Limits{Compressed: 100}, gets: 1, err: "blob is larger than the limit of 100 bytes"},
		"TooLargeInFact": {
			reason: "A blob is bounded by what it is, if it does not say it.",
			fault: func(w http.ResponseWriter, r *http.Request) bool {
				if !isBlob(r) {
					return false
				}
				w.(http.Flusher).Flush() // No Content-Length from here on.
				_, _ = w.Write(data)
				return true
			},
			limits: Limits{Compressed: 100}, gets: 1, err: "blob is larger than the limit of 100 bytes",
		},
		"ToMetadataService": {
			reason: "A registry cannot make us ask internal addresses.",
			fault: func(w http.ResponseWriter, r *http.Request) bool {
				if isBlob(r) {
					http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusTemporaryRedirect)
				}
				return isBlob(r)
			},
			gets: 1, err: `the internal address "169.254.169.254", which is refused`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newRegistry(t)
			s.push(t, repo, data)
			s.misbehave(tc.fault)
			got, err := newPuller(t, WithLimits(tc.limits)).Blob(t.Context(), s.plain("", ""), s.host()+"/"+repo, digest)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if strings.Contains(text(err), "\n") {
				t.Errorf("Blob(...): error has several lines: %q", err)
			}
			if tc.err == "" && !cmp.Equal(data, got) || tc.err != "" && got != nil {
				t.Errorf("\n%s\nBlob(...): got %d bytes", tc.reason, len(got))
			}
			if n := s.count("GET", "/blobs/"); n != tc.gets {
				t.Errorf("\n%s\nBlob(...): want %d GETs, got %d", tc.reason, tc.gets, n)
			}
		})
	}
}

func TestBlobUnreachable(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()

	cases := map[string]struct {
		reason string
		host   string
		err    string
	}{
		"Refused":     {reason: "Nobody listens.", host: closed, err: "refused the connection"},
		"UnknownHost": {reason: "The name does not exist (RFC 6761).", host: "registry.invalid", err: `host "registry.invalid"`},
		"BadHost":     {reason: "The host is malformed.", host: "a b", err: `malformed host in repository "a b/`},
		"Credentials": {reason: "Credentials in a reference are refused and not shown.", host: "https://ann:" + password + "@example.org", err: `"https://…@example.org/` + repo + `" contains credentials`},
		"BadRepo":     {reason: "The path is malformed.", host: "example.org/A", err: "malformed repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := newPuller(t).Blob(t.Context(), nil, tc.host+"/"+repo, digestOf(nil))
			if !strings.Contains(text(err), tc.err) || strings.Contains(text(err), password) {
				t.Errorf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}

func TestBlobSlow(t *testing.T) {
	s := newRegistry(t)
	data := []byte("slow")
	digest := s.push(t, repo, data)
	ctx, cancel := context.WithCancel(t.Context())
	s.misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		_, _ = w.Write(data[:1])
		w.(http.Flusher).Flush()
		cancel() // The caller loses patience in the middle of the body.
		<-r.Context().Done()
		return true
	})
	_, err := newPuller(t).Blob(ctx, s.plain("", ""), s.host()+"/"+repo, digest)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Blob(...): want context.Canceled, got %v", err)
	}
}

func TestBlobIsPulledOnce(t *testing.T) {
	for name, o := range map[string][]Option{"Disk": {WithCacheDir(t.TempDir())}, "Memory": nil} {
		t.Run(name, func(t *testing.T) {
			s := newRegistry(t)
			data := chartArchive(t, "once")
			digest := s.push(t, repo, data)
			p := newPuller(t, o...)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					got, err := p.Blob(t.Context(), s.plain("", ""), s.host()+"/"+repo, digest)
					if err != nil || !cmp.Equal(data, got) {
						t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
					}
				})
			}
			wg.Wait()
			if n := s.count("", "/blobs/"); n != 1 {
				t.Errorf("16 concurrent pulls: want 1 request of the blob, got %d", n)
			}
			s.forget()
			if _, err := p.Blob(t.Context(), s.plain("", ""), s.host()+"/"+repo, digest); err != nil {
				t.Error(err)
			}
			if n := s.count("", ""); n != 0 {
				t.Errorf("a second pull: want no requests, got %d", n)
			}
		})
	}
}

// TestBlobAfterRestart holds that a new process asks before it uses the disk.
func TestBlobAfterRestart(t *testing.T) {
	s, dir := newRegistry(t), t.TempDir()
	digest := s.push(t, repo, chartArchive(t, "restart"))
	if _, err := newPuller(t, WithCacheDir(dir)).Blob(t.Context(), nil, s.host()+"/"+repo, digest); err != nil {
		t.Fatal(err)
	}
	p := newPuller(t, WithCacheDir(dir))
	s.forget()
	for range 2 {
		if _, err := p.Blob(t.Context(), nil, s.host()+"/"+repo, digest); err != nil {
			t.Fatal(err)
		}
	}
	if gets, heads := s.count("GET", "/blobs/"), s.count("HEAD", "/blobs/"); gets != 0 || heads != 1 {
		t.Errorf("after a restart: want 0 GETs and 1 HEAD of the blob, got %d and %d", gets, heads)
	}
}

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

func BenchmarkBlobCached(b *testing.B) {
	s := newRegistry(b)
	data := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	digest := s.push(b, repo, data)
	p := newPuller(b, WithCacheDir(b.TempDir()))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := p.Blob(b.Context(), nil, s.host()+"/"+repo, digest); err != nil {
			b.Fatal(err)
		}
	}
}
