// SPDX-License-Identifier: Apache-2.0

package target

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// An apiServer simulates the parts of an API server that the tests need. It records its connections.
type apiServer struct {
	*httptest.Server

	mu          sync.Mutex
	connections map[net.Conn]bool
	requests    []string
	tokens      map[string]bool
	// instead handles requests instead of the server, if it is not nil.
	instead http.HandlerFunc
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{connections: map[net.Conn]bool{}, tokens: map[string]bool{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.connections[c] = state != http.StateClosed && state != http.StateHijacked
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.tokens[r.Header.Get("Authorization")] = true
	s.mu.Unlock()
	if s.instead != nil {
		s.instead(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Header.Get("Authorization") == "Bearer expired":
		status(w, apierrors.NewUnauthorized("Unauthorized").Status())
	case r.URL.Path == "/prefix/version", r.URL.Path == "/version":
		fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
	case r.URL.Query().Get("sendInitialEvents") != "":
		status(w, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil).Status())
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/secrets"):
		fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[]}`)
	case strings.HasSuffix(r.URL.Path, "/apis"):
		fmt.Fprint(w, `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]}`)
	default:
		status(w, apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "x").Status())
	}
}

func status(w http.ResponseWriter, s metav1.Status) {
	s.APIVersion, s.Kind = "v1", "Status"
	w.WriteHeader(int(s.Code))
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(b)
}

func (s *apiServer) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, open := range s.connections {
		if open {
			n++
		}
	}
	return n
}

func (s *apiServer) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// credentials returns credentials for the server, with a token and a path.
func (s *apiServer) credentials(token, path string) Credentials {
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	c := Credentials{platform: true, kubeconfig: fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
		contexts: [{name: c, context: {cluster: c, user: u}}],
		clusters: [{name: c, cluster: {server: '%s%s', certificate-authority-data: %s}}],
		users: [{name: u, user: {token: %s}}]}`, s.URL, path, ca, token)}
	c.Digest = digest(c)
	return c
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestPoolShares(t *testing.T) {
	s := newAPIServer(t)
	m := metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	defer p.Close()
	get := must[*Cluster](t)

	a := get(p.Get("ns/a", s.credentials("one", "")))
	b := get(p.Get("ns/b", s.credentials("one", "")))
	other := get(p.Get("ns/c", s.credentials("two", "")))
	if a != b || a == other {
		t.Error("want one connection for equal credentials, and one each for different ones")
	}
	if a != get(p.Get("ns/a", s.credentials("one", ""))) {
		t.Error("want the same connection at the next look")
	}
	if n := s.asked(); n != 0 {
		t.Errorf("want no request from Get, got %d", n)
	}
	if n := testutil.ToFloat64(m.TargetConnections); n != 2 {
		t.Errorf("want 2 connections, got %v", n)
	}
	for range 3 {
		if v := must[string](t)(a.Version(t.Context())); v != "v1.36.3" {
			t.Errorf("Version(): got %q", v)
		}
	}
	if n := s.asked(); n != 1 {
		t.Errorf("want the version asked for once, got %d requests", n)
	}
	if n := testutil.ToFloat64(m.TargetRequests.WithLabelValues("GET", "200")); n != 1 {
		t.Errorf("want 1 request counted, got %v", n)
	}
}

func TestPoolRotation(t *testing.T) {
	s := newAPIServer(t)
	p := NewPool(fakeInterpreter{})
	defer p.Close()
	get, version := must[*Cluster](t), must[string](t)

	old := get(p.Get("ns/a", s.credentials("old", "")))
	get(p.Get("ns/b", s.credentials("old", "")))
	version(old.Version(t.Context()))
	trackSecrets(t, old)
	rotated := get(p.Get("ns/a", s.credentials("new", "")))
	version(rotated.Version(t.Context()))
	if n := s.open(); n != 2 {
		t.Errorf("want the old connection open while it has a user, got %d connections", n)
	}
	get(p.Get("ns/b", s.credentials("new", "")))
	eventually(t, "the old connection and its watch are closed", func() bool { return s.open() == 1 })
	if err := old.REST().Get().AbsPath("/version").Do(t.Context()).Error(); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("want ErrClosed from the old connection, got %v", err)
	}
	if diff := cmp.Diff(map[string]bool{"Bearer old": true, "Bearer new": true}, s.tokens); diff != "" {
		t.Errorf("tokens: -want, +got:\n%s", diff)
	}
	p.Forget("ns/a")
	p.Forget("ns/a")
	version(rotated.Version(t.Context()))
	p.Forget("ns/b")
	eventually(t, "nothing is open when no one uses it", func() bool { return s.open() == 0 })
}

// trackSecrets waits until Secrets are listed. Track does not wait for it.
func trackSecrets(t *testing.T, c *Cluster) {
	t.Helper()
	secrets := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	err := c.Cache().Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets]
	if e := (*cluster.ListingError)(nil); errors.As(err, &e) { // The list can be faster.
		listed := make(chan struct{})
		e.Notify(func() { close(listed) })
		<-listed
	}
	if failed := c.Cache().Track(t.Context(), []schema.GroupVersionKind{secrets}); len(failed) > 0 {
		t.Fatal(failed)
	}
}

func TestPoolClose(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newAPIServer(t)
	p := NewPool(fakeInterpreter{})
	for i := range 5 {
		c := must[*Cluster](t)(p.Get(strconv.Itoa(i), s.credentials(fmt.Sprintf("t%d", i), "")))
		trackSecrets(t, c)
	}
	p.Close()
	if _, err := p.Get("x", s.credentials("t", "")); err == nil {
		t.Error("want an error after Close")
	}
	p.Forget("0")
	s.Close()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func TestPoolRace(t *testing.T) {
	s := newAPIServer(t)
	m := metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				if _, err := p.Get(strconv.Itoa(i), s.credentials(fmt.Sprintf("t%d", j%3), "")); err != nil {
					t.Error(err)
				}
				if j%7 == 0 {
					p.Forget(strconv.Itoa(i))
				}
			}
		})
	}
	wg.Wait()
	p.Close()
	if n := testutil.ToFloat64(m.TargetConnections); n != 0 {
		t.Errorf("want no connection left, got %v", n)
	}
}

func TestPoolErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		c      Credentials
		want   string
	}{
		"Kubeconfig": {reason: "Bad kubeconfigs are found before anything is sent.", c: Credentials{kubeconfig: []byte("{}")}, want: "kubeconfig"},
		"NoLocal":    {reason: "A tool may have no control plane.", c: Credentials{injected: true}, want: "source InjectedIdentity is not available"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := NewPool(fakeInterpreter{})
			defer p.Close()
			_, err := p.Get("x", tc.c)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestInjectedIdentity(t *testing.T) {
	s := newAPIServer(t)
	local := &rest.Config{Host: s.URL, BearerToken: "local", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	p := NewPool(fakeInterpreter{}, WithLocal(local), WithUserAgent("test"))
	defer p.Close()
	c := must[*Cluster](t)(p.Get("x", Credentials{Digest: "d", injected: true}))
	must[string](t)(c.Version(t.Context()))
	if !s.tokens["Bearer local"] {
		t.Errorf("want the token of the provider, got %v", s.tokens)
	}
	if local.UserAgent != "" || local.WrapTransport != nil {
		t.Error("the provider's own config was changed")
	}
}

func TestIdentity(t *testing.T) {
	s := newAPIServer(t)
	c := s.credentials("", "")
	// A kubeconfig of a cloud, in which an identity replaces exec.
	c.kubeconfig = []byte(strings.Replace(string(c.kubeconfig), "{token: }",
		"{exec: {apiVersion: client.authentication.k8s.io/v1, command: /must/not/run, interactiveMode: Never}}", 1))
	c.identity = &identity{kind: v1alpha1.IdentityTypeGoogleApplicationCredentials, data: []byte("access-token")}
	c.Digest = digest(c)
	p := NewPool(fakeInterpreter{})
	defer p.Close()
	cluster := must[*Cluster](t)(p.Get("x", c))
	must[string](t)(cluster.Version(t.Context()))
	if diff := cmp.Diff(map[string]bool{"Bearer access-token": true}, s.tokens); diff != "" {
		t.Errorf("tokens: -want, +got:\n%s", diff)
	}
}

func TestLast(t *testing.T) {
	s := newAPIServer(t)
	p := NewPool(fakeInterpreter{})
	defer p.Close()
	if _, ok := p.Last("x"); ok {
		t.Error("want no connection of a user that never came")
	}
	c := must[*Cluster](t)(p.Get("x", s.credentials("t", "")))
	if last, ok := p.Last("x"); !ok || last != c {
		t.Error("want the connection that the user got")
	}
	p.Forget("x")
	if _, ok := p.Last("x"); ok {
		t.Error("want no connection of a user that was forgotten")
	}
}

// want401 is the message about rejected credentials.
const want401 = "API server rejects the credentials (401 Unauthorized); check the user in the kubeconfig, or spec.identity"

func TestCluster(t *testing.T) {
	s := newAPIServer(t)
	var counted int
	p := NewPool(fakeInterpreter{}, WithOnRequest(func(string, int, bool) { counted++ }))
	defer p.Close()
	get := must[*Cluster](t)

	c := get(p.Get("x", s.credentials("t", "/prefix")))
	if v := must[string](t)(c.Version(t.Context())); v != "v1.36.3" {
		t.Errorf("a server below a path: got %q", v)
	}
	err := c.REST().Get().AbsPath("/api/v1/things/x").Do(t.Context()).Error()
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `things "x" not found`) {
		t.Errorf("want the error that the API server wrote, got %v", err)
	}
	if c.Config().BearerToken != "" || len(c.Config().CAData) > 0 {
		t.Error("the config for others holds credentials")
	}
	others := kubernetes.NewForConfigOrDie(c.Config())
	if _, err := others.Discovery().ServerVersion(); err != nil {
		t.Errorf("want other clients to work, got %v", err)
	}
	if s.open() != 1 || counted != 3 {
		t.Errorf("want all requests over one connection, and counted, got %d connections and %d requests", s.open(), counted)
	}
	gvk := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Thing"}
	_, err = c.Mapping(t.Context(), gvk)
	if e := (*cluster.NoKindError)(nil); !errors.As(err, &e) {
		t.Errorf("want NoKindError, got %v", err)
	}
	c.AddMapping(gvk, cluster.Mapping{Resource: "things"})
	if m := must[cluster.Mapping](t)(c.Mapping(t.Context(), gvk)); m.Resource != "things" {
		t.Errorf("want what was learned, got %v", m)
	}

	expired := get(p.Get("y", s.credentials("expired", "")))
	if _, err = expired.Version(t.Context()); !apierrors.IsUnauthorized(err) {
		t.Errorf("want refused credentials to be known, got %v", err)
	}
	if diff := cmp.Diff(want401, transport.Explain(err).Error()); diff != "" {
		t.Errorf("Explain(...): -want, +got:\n%s", diff)
	}
	_, err = expired.Version(t.Context())
	if e := (*transport.NotConnectedError)(nil); !errors.As(err, &e) || e.State != transport.Unauthorized {
		t.Errorf("want them to be tried again by probes only, got %v", err)
	}
	if diff := cmp.Diff(want401, transport.Explain(err).Error()); diff != "" {
		t.Errorf("Explain(...): -want, +got:\n%s", diff)
	}
}
