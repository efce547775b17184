// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const (
	repo     = "modules/component-descriptors/kyma-project.io/module/sample"
	user     = ocitest.User
	password = ocitest.Password
)

func newSession(tb testing.TB, repo string, regs oci.Registries) *oci.Session {
	tb.Helper()
	ocitest.Isolate(tb)
	s, err := oci.NewSession(repo, regs)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// do sends a request and closes its response.
func do(ctx context.Context, s *oci.Session, c oci.Call) error {
	resp, err := s.Do(ctx, c)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// upload sends a monolithic upload of data.
func upload(data []byte) oci.Call {
	return oci.Call{
		Method: http.MethodPost, Path: "blobs/uploads/?digest=" + oci.DigestOf(data), Size: int64(len(data)),
		Body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		Want: []int{http.StatusCreated},
	}
}

func TestSessionErrors(t *testing.T) {
	s := ocitest.NewRegistry(t)
	elsewhere := func(location string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}
	cases := map[string]struct {
		reason    string
		answer    func(w http.ResponseWriter)
		code      int
		transient bool
		after     time.Duration
		want      string
	}{
		"401": {reason: "The error tells users how to log in.", code: 401, want: "401 Unauthorized): log in with a tool that writes the Docker configuration, such as docker login, or use --username and --password-stdin", answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }},
		"403": {reason: "The error contains the message of the registry.", code: 403, want: "DENIED: no", answer: func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"errors":[{"code":"DENIED","message":"no"}]}`)
		}},
		"404": {reason: "The registry does not have the content.", code: 404, want: "does not have the requested content", answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }},
		"429": {reason: "A registry may say how long to wait.", code: 429, transient: true, after: 7 * time.Second, want: "429 Too Many Requests", answer: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}},
		"503":   {reason: "Status 503 is transient.", code: 503, transient: true, want: "503 Service Unavailable", answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }},
		"Cut":   {reason: "An interrupted connection is transient.", transient: true, want: "was interrupted", answer: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
		"Odd":   {reason: "A status that the call does not expect is an error.", code: 302, want: "302 Found", answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusFound) }},
		"Else":  {reason: "Redirects to internal addresses are not followed.", want: "internal address", answer: elsewhere("https://169.254.169.254/")},
		"Zone":  {reason: "Redirects to a link-local address with a zone are not followed.", want: "internal address", answer: elsewhere("https://[fe80::1%25eth0]/")},
		"Local": {reason: "Redirects to localhost are not followed.", want: "internal address", answer: elsewhere("https://LOCALHOST.:2375/")},
		"Below": {reason: "Redirects to a subdomain of localhost are not followed.", want: "internal address", answer: elsewhere("https://x.localhost/")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/v2/" {
					return false
				}
				tc.answer(w)
				return true
			})
			err := do(t.Context(), newSession(t, s.Host()+"/"+repo, s.Plain(user, password)), oci.Call{Method: http.MethodGet, Path: "manifests/x", Want: []int{200}})
			var c *oci.CallError
			if !errors.As(err, &c) || c.Code != tc.code || c.Transient != tc.transient || c.After != tc.after {
				t.Fatalf("\n%s\nDo(...): %#v", tc.reason, err)
			}
			if !strings.Contains(c.Error(), tc.want) || !strings.Contains(c.Error(), s.Host()) || tc.code != 0 && tc.code != 302 && !strings.Contains(c.Error(), repo) {
				t.Errorf("\n%s\nDo(...): error %q does not contain %q, host and repository", tc.reason, err, tc.want)
			}
			if strings.Contains(c.Error(), "pullSecretRef") || strings.Contains(c.Error(), password) {
				t.Errorf("\n%s\nDo(...): error %q", tc.reason, err)
			}
		})
	}
}

// TestSessionToken checks that permission to write is only requested for writes, and that a body is sent again after a token
// has expired.
func TestSessionToken(t *testing.T) {
	s := ocitest.NewRegistry(t)
	var scopes []string
	good := "t1"
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			scope := r.URL.Query().Get("scope")
			scopes = append(scopes, scope)
			u, p, _ := r.BasicAuth()
			if u != user || p != password {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
			fmt.Fprintf(w, `{"token":%q}`, good+strings.TrimPrefix(scope, "repository:"+repo+":"))
			return true
		}
		want := "Bearer " + good + "pull"
		write := r.Method != http.MethodGet && r.Method != http.MethodHead
		if write {
			want = "Bearer " + good + "push,pull"
		}
		if got := r.Header.Get("Authorization"); got == want || got == "Bearer "+good+"push,pull" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="x"`, s.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	session := newSession(t, s.Host()+"/"+repo, s.Plain(user, password))
	get := oci.Call{Method: http.MethodGet, Path: "tags/list", Want: []int{http.StatusOK, http.StatusNotFound}}
	if err := do(t.Context(), session, get); err != nil {
		t.Fatal(err)
	}
	session.Push()
	data := bytes.Repeat([]byte("x"), 1<<20)
	if err := do(t.Context(), session, upload(data)); err != nil {
		t.Fatal(err)
	}
	good = "t2"
	other := bytes.Repeat([]byte("y"), 1<<20)
	if err := do(t.Context(), session, upload(other)); err != nil {
		t.Fatal(err)
	}
	if s.Count("POST", "") != 3 {
		t.Errorf("%d uploads, want 3, of which one was refused", s.Count("POST", ""))
	}
	want := []string{"repository:" + repo + ":pull", "repository:" + repo + ":push,pull", "repository:" + repo + ":push,pull"}
	if diff := cmp.Diff(want, scopes); diff != "" {
		t.Errorf("scopes: -want, +got:\n%s", diff)
	}
	if err := do(t.Context(), newSession(t, s.Host()+"/"+repo, s.Plain(user, "wrong")), get); !strings.Contains(ocitest.Text(err), "401 Unauthorized") {
		t.Errorf("Do(...) with wrong credentials: %v", err)
	}
}

func TestSessionTLS(t *testing.T) {
	s := ocitest.NewTLSRegistry(t)
	get := oci.Call{Method: http.MethodGet, Path: "tags/list", Want: []int{http.StatusOK, http.StatusNotFound}}
	cases := map[string]struct {
		reason string
		all    oci.Registry
		err    string
	}{
		"Unknown":  {reason: "Certificates are verified.", err: "unknown authority: use --ca-file"},
		"CA":       {reason: "The configuration can add a trusted certificate authority.", all: oci.Registry{CABundle: s.CA()}},
		"Insecure": {reason: "The configuration can disable the verification of certificates.", all: oci.Registry{SkipTLSVerify: true}},
		"Plain":    {reason: "With plain HTTP, the error says that the registry requires TLS.", all: oci.Registry{PlainHTTP: true}, err: "requires TLS: omit --plain-http"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.all.Host = "*"
			err := do(t.Context(), newSession(t, s.Host()+"/"+repo, oci.Registries{tc.all}), get)
			if tc.err == "" && err != nil || !strings.Contains(ocitest.Text(err), tc.err) {
				t.Errorf("\n%s\nDo(...): error %q does not contain %q", tc.reason, ocitest.Text(err), tc.err)
			}
		})
	}
	plain := ocitest.NewRegistry(t)
	if err := do(t.Context(), newSession(t, plain.Host()+"/"+repo, oci.Registries{{Host: "*"}}), get); err != nil {
		t.Errorf("Do(...) at a loopback host in plain HTTP: %v", err)
	}
}

func TestSessionAmbient(t *testing.T) {
	s := ocitest.NewRegistry(t)
	s.Demand(user, password)
	get := oci.Call{Method: http.MethodGet, Path: "tags/list", Want: []int{http.StatusOK, http.StatusNotFound}}
	cases := map[string]struct {
		reason  string
		config  string
		helper  string
		timeout time.Duration
		regs    oci.Registries
		err     string
	}{
		"Config":  {reason: "The credentials in the Docker configuration are used.", config: `{"auths":{"HOST":{"username":"ann","password":"s3cr3t"}}}`, regs: oci.Registries{{Host: "*", Ambient: true}}},
		"Helper":  {reason: "The credential helpers of the Docker configuration are used.", config: `{"credsStore":"ours"}`, helper: `echo '{"Username":"ann","Secret":"s3cr3t"}'`, regs: oci.Registries{{Host: "*", Ambient: true}}},
		"Not":     {reason: "The Docker configuration is not used for registries that do not allow it.", config: `{"auths":{"HOST":{"username":"ann","password":"s3cr3t"}}}`, regs: oci.Registries{{Host: "*"}}, err: "401"},
		"Given":   {reason: "Explicit credentials take precedence.", config: `{"credsStore":"absent"}`, regs: oci.Registries{{Host: "*", Ambient: true, Username: user, Password: password}}},
		"Missing": {reason: "The error names a missing helper.", config: `{"credsStore":"absent"}`, regs: oci.Registries{{Host: "*", Ambient: true}}, err: "cannot run credential helper docker-credential-absent"},
		"Failing": {reason: "The output of a helper is not shown.", config: `{"credsStore":"ours"}`, helper: "echo s3cr3t; exit 1", regs: oci.Registries{{Host: "*", Ambient: true}}, err: "the credential helper in the Docker configuration failed"},
		"Broken":  {reason: "A malformed Docker configuration is an error.", config: `{`, regs: oci.Registries{{Host: "*", Ambient: true}}, err: "cannot read the Docker configuration"},
		"Slow":    {reason: "A helper that waits for input does not outlast the context.", config: `{"credsStore":"ours"}`, helper: `while [ -e "$DOCKER_CONFIG" ]; do sleep 0.1; done`, timeout: 100 * time.Millisecond, regs: oci.Registries{{Host: "*", Ambient: true}}, err: "context deadline exceeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			session := newSession(t, s.Host()+"/"+repo, tc.regs)
			dir := t.TempDir()
			t.Setenv("DOCKER_CONFIG", dir)
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(strings.ReplaceAll(tc.config, "HOST", s.Host())), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "docker-credential-ours"), []byte("#!/bin/sh\n"+tc.helper+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if tc.timeout == 0 {
				tc.timeout = time.Minute
			}
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			err := do(ctx, session, get)
			if tc.err == "" && err != nil || !strings.Contains(ocitest.Text(err), tc.err) || strings.Contains(ocitest.Text(err), password) {
				t.Errorf("\n%s\nDo(...): error %q does not contain %q", tc.reason, ocitest.Text(err), tc.err)
			}
		})
	}
}

// TestSessionElsewhere checks that credentials are only sent to their registry, even if it redirects requests.
func TestSessionElsewhere(t *testing.T) {
	cases := map[string]struct {
		reason string
		// answer redirects the request to another server.
		answer func(w http.ResponseWriter, r *http.Request, other string)
		path   string
	}{
		"Redirect": {
			reason: "A registry can redirect a request to another server.", path: "blobs/x",
			answer: func(w http.ResponseWriter, r *http.Request, other string) {
				http.Redirect(w, r, other+"/x", http.StatusTemporaryRedirect)
			},
		},
		"Location": {reason: "A registry can name a URL on another server for the next call.", path: "OTHER/upload?state=x"},
		"Slashes":  {reason: "The URL for the next call can have a host without a scheme.", path: "//OTHERHOST/upload"},
		"User":     {reason: "The URL for the next call can have the host of the registry as its user name.", path: "http://HOST@OTHERHOST/upload"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, other := ocitest.NewRegistry(t), ocitest.NewRegistry(t)
			s.Demand(user, password)
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				if tc.answer == nil || r.URL.Path == "/v2/" {
					return false
				}
				tc.answer(w, r, other.URL)
				return true
			})
			path := strings.NewReplacer("OTHERHOST", other.Host(), "OTHER", other.URL, "HOST", s.Host()).Replace(tc.path)
			_ = do(t.Context(), newSession(t, s.Host()+"/"+repo, append(s.Plain(user, password), other.Plain("", "")...)), oci.Call{Method: http.MethodPut, Path: path, Want: []int{200}})
			if name != "Slashes" && len(other.Requests()) == 0 {
				t.Errorf("\n%s\nDo(...): nothing was asked elsewhere, so that this says nothing", tc.reason)
			}
			for _, h := range other.Headers() {
				if _, p, _ := (&http.Request{Header: h}).BasicAuth(); p == password || strings.Contains(h.Get("Authorization"), password) {
					t.Errorf("\n%s\nDo(...): our credentials went elsewhere", tc.reason)
				}
			}
		})
	}
}
