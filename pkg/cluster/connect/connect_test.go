// SPDX-License-Identifier: Apache-2.0

package connect_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A manager has its own engine and connection, and records its requests and the changes that it is notified of.
type manager struct {
	*manifest.Engine

	c *connect.Connection

	mu       sync.Mutex
	requests []string
	news     []string
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newManager(t *testing.T, o ...manifest.Option) *manager {
	t.Helper()
	m := &manager{Engine: manifest.New(o...)}
	rc := restConfig()
	rc.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			m.mu.Lock()
			m.requests = append(m.requests, r.Method+" "+r.URL.Path)
			m.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	var err error
	m.c, err = connect.New(rc, connect.WithOnChange(func(bundle string, k cluster.ObjectRef, _, now *cluster.ObjectState) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.news = append(m.news, fmt.Sprint(bundle, " ", k, " gone: ", now == nil))
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.c.Close)
	return m
}

func (m *manager) install(t *testing.T, s *manifest.Bundle) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := m.Install(ctx, m.c, s, manifest.Wait()); err != nil {
		t.Fatal(err)
	}
}

func (m *manager) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.requests
	m.requests = nil
	return out
}

// heard waits for a notification.
func (m *manager) heard(t *testing.T, line string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		m.mu.Lock()
		found := slices.Contains(m.news, line)
		m.mu.Unlock()
		if found {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("no one said %q: %q", line, m.news)
}

// The engine confirms the cluster before each write.
var _ cluster.Identified = &connect.Connection{}

// TestTwoManagers shows that two programs with the library do not interfere with each other in one cluster, even if their bundles
// have the same name.
func TestTwoManagers(t *testing.T) {
	a, b := newManager(t), newManager(t, manifest.WithInventoryNamespace("operator-system"))
	mine, theirs := settings("web", "two-managers", "a"), settings("web", "two-managers", "b")
	a.install(t, mine)
	b.install(t, theirs)
	if a.ID(mine) == b.ID(theirs) {
		t.Fatal("bundles of the same name must have different IDs where their inventories are in different namespaces")
	}

	// Each program sees only its own objects, and does not change objects of the other program.
	for _, m := range []*manager{a, b} {
		isUID := func(request string) bool { return request == "GET /api/v1/namespaces/kube-system" }
		if got := slices.DeleteFunc(m.asked(), func(request string) bool { return !isUID(request) }); len(got) != 1 {
			t.Errorf("a connection must ask for the UID of its cluster once, and asked %d times", len(got))
		}
	}
	for range 3 {
		a.install(t, mine)
		b.install(t, theirs)
	}
	if got := slices.Concat(a.asked(), b.asked()); len(got) > 0 {
		t.Errorf("at rest nothing must be sent: %q", got)
	}

	// Both are notified of a change, with the ID of the changed bundle, so only one of them has something to do.
	if err := b.c.REST().Delete().AbsPath("/api/v1/namespaces/two-managers/configmaps/a").Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	line := a.ID(mine) + " ConfigMap two-managers/a gone: true"
	a.heard(t, line)
	b.heard(t, line)
	if o, err := b.Check(t.Context(), b.c, theirs); err != nil || !o.UpToDate {
		t.Errorf("the other bundle must be as it was: %+v, %v", o, err)
	}
	a.install(t, mine)

	// An object of the other program is refused and not changed.
	_, err := b.Install(t.Context(), b.c, settings("web", "two-managers", "a"))
	if err == nil || !strings.Contains(err.Error(), "ConfigMap two-managers/a: already exists and belongs to another owner") {
		t.Errorf("an object of another manager must be refused, got %v", err)
	}

	// Each program removes only its own objects.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := b.Uninstall(ctx, b.c, theirs, manifest.Wait()); err != nil || !r.Gone {
		t.Fatalf("want it gone, got %+v, %v", r, err)
	}
	if o, err := a.Check(t.Context(), a.c, mine); err != nil || !o.UpToDate || o.State != manifest.Ready {
		t.Errorf("the other bundle must be as it was: %+v, %v", o, err)
	}
}

// TestTransport shows that a program that embeds the library can use its own transport to the API server.
func TestTransport(t *testing.T) {
	rc := restConfig()
	tlsConfig, err := rest.TLSConfigFor(rc)
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{TLSClientConfig: tlsConfig}
	t.Cleanup(base.CloseIdleConnections)
	own := 0
	c, err := connect.New(&rest.Config{Host: rc.Host, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		own++
		return base.RoundTrip(r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v, err := c.Version(t.Context()); err != nil || v == "" || own != 1 {
		t.Errorf("want a version by our own transport, got %q, %v after %d requests", v, err, own)
	}
}

func TestNewFails(t *testing.T) {
	cases := map[string]struct {
		reason  string
		config  *rest.Config
		options []connect.Option
		want    string
	}{
		"Address": {reason: "An address is a URL.", config: &rest.Config{Host: "::"}, want: "the address of the API server is not a URL"},
		"TLS":     {reason: "Certificates are in PEM format.", config: &rest.Config{Host: "https://x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, want: "TLS"},
		"Identity": {
			reason: "The value of a label cannot contain a slash.", config: &rest.Config{Host: "https://x"},
			options: []connect.Option{connect.WithIdentity(manifest.Identity{FieldManager: "x", ManagedBy: "a/b"})},
			want:    "the identity has invalid value",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := connect.New(tc.config, tc.options...)
			if c != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nwant an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
