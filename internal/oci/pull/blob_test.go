// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const repo = "modules/component-descriptors/kyma-project.io/module/sample"

func TestBlob(t *testing.T) {
	data := ocitest.Chart(t, "blob")
	digest := oci.DigestOf(data)
	other := oci.DigestOf([]byte("other"))

	cases := map[string]struct {
		reason string
		tls    bool
		demand bool
		// regs returns the registries for a host, to which the path is appended.
		regs   func(s *ocitest.Server) oci.Registries
		digest string
		want   []byte
		err    string
	}{
		"Anonymous": {
			reason: "Without a list of registries, plain HTTP is used for loopback addresses.",
			regs:   func(*ocitest.Server) oci.Registries { return nil },
			digest: digest, want: data,
		},
		"Plain": {
			reason: "With a list of registries, plain HTTP must be enabled explicitly.",
			regs:   func(s *ocitest.Server) oci.Registries { return s.Plain("", "") },
			digest: digest, want: data,
		},
		"PlainUnsaid": {
			reason: "With a list of registries, there is no fallback to plain HTTP, even for loopback addresses.",
			regs:   func(s *ocitest.Server) oci.Registries { return oci.Registries{{Host: s.Host()}} },
			digest: digest, err: "responded in plain HTTP: if this is intended, set plainHTTP",
		},
		"BasicAuth": {
			reason: "Username and password are used.",
			demand: true,
			regs:   func(s *ocitest.Server) oci.Registries { return s.Plain(user, password) },
			digest: digest, want: data,
		},
		"DockerConfig": {
			reason: "The entry of the pull Secret with the longest matching path is used.",
			demand: true,
			regs: func(s *ocitest.Server) oci.Registries {
				c := fmt.Sprintf(`{"auths":{%q:{"username":"x","password":"y"},%q:{"auth":"YW5uOnMzY3IzdA=="},%q:{"username":"x","password":"z"}}}`,
					s.Host(), "https://"+s.Host()+"/modules", s.Host()+"/other")
				return oci.Registries{{Host: s.Host(), PlainHTTP: true, DockerConfig: []byte(c)}}
			},
			digest: digest, want: data,
		},
		"NoCredentials": {
			reason: "The error names the field to set.",
			demand: true,
			regs:   func(s *ocitest.Server) oci.Registries { return s.Plain("", "") },
			digest: digest, err: "(401 Unauthorized): check pullSecretRef",
		},
		"WrongCredentials": {
			reason: "The error names the field to set.",
			demand: true,
			regs:   func(s *ocitest.Server) oci.Registries { return s.Plain(user, "wrong") },
			digest: digest, err: "(401 Unauthorized): check pullSecretRef",
		},
		"BadDockerConfig": {
			reason: "The error names an invalid pull Secret, but does not quote it.",
			regs: func(s *ocitest.Server) oci.Registries {
				return oci.Registries{{Host: s.Host(), PlainHTTP: true, DockerConfig: []byte(`{"auths":{"x":{"auth":"c2VjcmV0"}}}`)}}
			},
			digest: digest, err: "is not a Docker configuration",
		},
		"TLS": {
			reason: "The CA bundle of the entry is trusted.",
			tls:    true, demand: true,
			regs: func(s *ocitest.Server) oci.Registries {
				return oci.Registries{{Host: s.Host(), CABundle: s.CA(), Username: user, Password: password}}
			},
			digest: digest, want: data,
		},
		"UnknownCA": {
			reason: "Without the CA bundle, the certificate is not trusted.",
			tls:    true,
			regs:   func(s *ocitest.Server) oci.Registries { return oci.Registries{{Host: s.Host()}} },
			digest: digest, err: "signed by an unknown authority: set caBundleSecretRef",
		},
		"UnknownCAWithoutList": {
			reason: "There is no fallback to plain HTTP for a TLS server.",
			tls:    true,
			regs:   func(*ocitest.Server) oci.Registries { return nil },
			digest: digest, err: "signed by an unknown authority: set caBundleSecretRef",
		},
		"BadCA": {
			reason: "A CA bundle without a certificate is a separate error.",
			tls:    true,
			regs:   func(s *ocitest.Server) oci.Registries { return oci.Registries{{Host: s.Host(), CABundle: []byte("x")}} },
			digest: digest, err: "contains no PEM certificate",
		},
		"PlainToTLS": {
			reason: "The error also names the opposite mistake.",
			tls:    true,
			regs:   func(s *ocitest.Server) oci.Registries { return s.Plain("", "") },
			digest: digest, err: "requires TLS: unset plainHTTP",
		},
		"Tag": {
			reason: "A tag is rejected, because its content can change.",
			regs:   func(*ocitest.Server) oci.Registries { return nil },
			digest: "1.2.3", err: `"1.2.3" is a tag or a version`,
		},
		"ShortDigest": {
			reason: "A malformed digest is rejected before any request.",
			regs:   func(*ocitest.Server) oci.Registries { return nil },
			digest: "sha256:abc", err: `malformed digest "sha256:abc"`,
		},
		"Missing": {
			reason: "The error names a digest that does not exist.",
			regs:   func(*ocitest.Server) oci.Registries { return nil },
			digest: other, err: fmt.Sprintf("has no %q in repository %q (404 Not Found)", other, repo),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ocitest.NewRegistry(t)
			if tc.tls {
				s = ocitest.NewTLSRegistry(t)
			}
			s.Push(t, repo, data)
			if tc.demand {
				s.Demand(user, password)
			}
			got, err := newClient(t).Blob(t.Context(), tc.regs(s), s.Host()+"/"+repo, tc.digest)
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
	digest := oci.DigestOf(data)
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
		limits archive.Limits
		gets   int
		err    string
	}{
		"Forbidden":   {reason: "403 names the credentials to check.", fault: answer(403, `{"errors":[{"code":"DENIED","message":"no\nway"}]}`), gets: 1, err: "(403 Forbidden): check pullSecretRef for the host in spec.registries of the ProviderConfig: DENIED: no way"},
		"TryAgain":    {reason: "Two failures are overcome.", fault: first(2, answer(503, "")), gets: 3},
		"Quota":       {reason: "Two responses with status 429 are retried.", fault: first(2, answer(429, "")), gets: 3},
		"Broken":      {reason: "A third failure is reported.", fault: answer(500, "oh no"), gets: 3, err: "returned 500 Internal Server Error: oh no"},
		"CutOnce":     {reason: "A blob that breaks off is pulled again.", fault: first(1, cut), gets: 2},
		"Cut":         {reason: "A blob that always breaks off is an error.", fault: cut, gets: 3, err: "was interrupted"},
		"WrongDigest": {reason: "Other content is never returned, nor asked for again.", fault: answer(200, "something else"), gets: 1, err: "returned different content than requested: digest mismatch: expected " + digest},
		"TooLarge":    {reason: "A blob is bounded by what it says.", limits: archive.Limits{Compressed: 100}, gets: 1, err: "blob is larger than the limit of 100 bytes"},
		"TooLargeInFact": {
			reason: "If the size of a blob is unknown, the limit of its type applies.",
			fault: func(w http.ResponseWriter, r *http.Request) bool {
				if !isBlob(r) {
					return false
				}
				w.(http.Flusher).Flush() // No Content-Length from this point on.
				_, _ = w.Write(data)
				return true
			},
			limits: archive.Limits{Compressed: 100}, gets: 1, err: "blob is larger than the limit of 100 bytes",
		},
		"ToMetadataService": {
			reason: "A registry cannot redirect requests to internal addresses.",
			fault: func(w http.ResponseWriter, r *http.Request) bool {
				if isBlob(r) {
					http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusTemporaryRedirect)
				}
				return isBlob(r)
			},
			gets: 1, err: `refusing a redirect to the internal address "169.254.169.254"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ocitest.NewRegistry(t)
			s.Push(t, repo, data)
			s.Misbehave(tc.fault)
			got, err := newClient(t, WithLimits(tc.limits)).Blob(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, digest)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if strings.Contains(text(err), "\n") {
				t.Errorf("Blob(...): error has several lines: %q", err)
			}
			if tc.err == "" && !cmp.Equal(data, got) || tc.err != "" && got != nil {
				t.Errorf("\n%s\nBlob(...): got %d bytes", tc.reason, len(got))
			}
			if n := s.Count("GET", "/blobs/"); n != tc.gets {
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
		"Refused":     {reason: "No server listens on the port.", host: closed, err: "refused the connection"},
		"UnknownHost": {reason: "The name does not exist (RFC 6761).", host: "registry.invalid", err: `host "registry.invalid"`},
		"BadHost":     {reason: "The host is malformed.", host: "a b", err: `malformed host in repository "a b/`},
		"Credentials": {reason: "Credentials in a reference are refused and not shown.", host: "https://ann:" + password + "@example.org", err: `"https://…@example.org/` + repo + `" contains credentials`},
		"BadRepo":     {reason: "The path is malformed.", host: "example.org/A", err: "malformed repository"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t).Blob(t.Context(), nil, tc.host+"/"+repo, oci.DigestOf(nil))
			if !strings.Contains(text(err), tc.err) || strings.Contains(text(err), password) {
				t.Errorf("\n%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}

func TestBlobSlow(t *testing.T) {
	s := ocitest.NewRegistry(t)
	data := []byte("slow")
	digest := s.Push(t, repo, data)
	ctx, cancel := context.WithCancel(t.Context())
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		_, _ = w.Write(data[:1])
		w.(http.Flusher).Flush()
		cancel() // The caller cancels in the middle of the body.
		<-r.Context().Done()
		return true
	})
	_, err := newClient(t).Blob(ctx, s.Plain("", ""), s.Host()+"/"+repo, digest)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Blob(...): want context.Canceled, got %v", err)
	}
}

func TestBlobIsPulledOnce(t *testing.T) {
	for name, o := range map[string][]Option{"Disk": {WithCacheDir(t.TempDir())}, "Memory": nil} {
		t.Run(name, func(t *testing.T) {
			s := ocitest.NewRegistry(t)
			data := ocitest.Chart(t, "once")
			digest := s.Push(t, repo, data)
			p := newClient(t, o...)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					got, err := p.Blob(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, digest)
					if err != nil || !cmp.Equal(data, got) {
						t.Errorf("Blob(...): %d bytes, error %v", len(got), err)
					}
				})
			}
			wg.Wait()
			if n := s.Count("", "/blobs/"); n != 1 {
				t.Errorf("16 concurrent pulls: want 1 request of the blob, got %d", n)
			}
			s.Forget()
			if _, err := p.Blob(t.Context(), s.Plain("", ""), s.Host()+"/"+repo, digest); err != nil {
				t.Error(err)
			}
			if n := s.Count("", ""); n != 0 {
				t.Errorf("a second pull: want no requests, got %d", n)
			}
		})
	}
}

// TestBlobAfterRestart checks that a new process asks the registry before it uses the cache on disk.
func TestBlobAfterRestart(t *testing.T) {
	s, dir := ocitest.NewRegistry(t), t.TempDir()
	digest := s.Push(t, repo, ocitest.Chart(t, "restart"))
	if _, err := newClient(t, WithCacheDir(dir)).Blob(t.Context(), nil, s.Host()+"/"+repo, digest); err != nil {
		t.Fatal(err)
	}
	p := newClient(t, WithCacheDir(dir))
	s.Forget()
	for range 2 {
		if _, err := p.Blob(t.Context(), nil, s.Host()+"/"+repo, digest); err != nil {
			t.Fatal(err)
		}
	}
	if gets, heads := s.Count("GET", "/blobs/"), s.Count("HEAD", "/blobs/"); gets != 0 || heads != 1 {
		t.Errorf("after a restart: want 0 GETs and 1 HEAD of the blob, got %d and %d", gets, heads)
	}
}

func BenchmarkBlobCached(b *testing.B) {
	s := ocitest.NewRegistry(b)
	data := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	digest := s.Push(b, repo, data)
	p := newClient(b, WithCacheDir(b.TempDir()))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := p.Blob(b.Context(), nil, s.Host()+"/"+repo, digest); err != nil {
			b.Fatal(err)
		}
	}
}

// TestObserver checks that each call is measured, even if it fails.
func TestObserver(t *testing.T) {
	calls := 0
	c, err := New(WithObserver(func(time.Duration) { calls++ }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Blob(t.Context(), nil, "127.0.0.1:1/"+repo, oci.DigestOf(nil)); err == nil || calls != 1 {
		t.Errorf("Blob(...): want an error and one call, got %v and %d", err, calls)
	}
}
