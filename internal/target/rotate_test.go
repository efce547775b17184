// SPDX-License-Identifier: Apache-2.0

package target

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// from returns credentials for the server from a Secret.
func (s *apiServer) from(secret, token string) Credentials {
	c := s.credentials(token, "")
	c.stored, c.origin = true, secret
	return c
}

// reset forgets the requests so far, and returns how many there were, and their tokens.
func (s *apiServer) reset() (requests []string, tokens map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, tokens = s.requests, s.tokens
	s.requests, s.tokens = nil, map[string]bool{}
	return requests, tokens
}

// TestRotate checks that a connection continues with a new token: it is not opened again, and its watch continues.
func TestRotate(t *testing.T) {
	s := newAPIServer(t)
	m := metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	defer p.Close()
	get := must[*Cluster](t)
	c := get(p.Get("ns/a", s.from("n/s/k", "old")))
	get(p.Get("ns/b", s.from("n/s/k", "old")))
	must[string](t)(c.Version(t.Context()))
	trackSecrets(t, c)
	// The server does not stream lists, so the list and the watch follow.
	eventually(t, "the watch has begun", func() bool { return s.asked() == 4 })
	s.reset()

	left, connected := p.Rotate([]string{"ns/a", "ns/b", "ns/never"}, s.from("n/s/k", "new"))
	if len(left) > 0 || !connected {
		t.Errorf("Rotate(...): want all consumers to continue, got %v, %t", left, connected)
	}
	eventually(t, "the new token is probed", func() bool { return s.asked() > 0 })
	for name, token := range map[string]string{"new": "new", "old, which was read before": "old", "newer": "newer"} {
		if again := get(p.Get("ns/a", s.from("n/s/k", token))); again != c {
			t.Errorf("want the same connection for the %s token", name)
		}
	}
	if err := c.REST().Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
		t.Error(err)
	}
	if n := testutil.ToFloat64(m.TargetConnections); n != 1 || s.open() != 1 {
		t.Errorf("want 1 connection, got %v and %d", n, s.open())
	}
	requests, tokens := s.reset()
	if diff := cmp.Diff(map[string]bool{"Bearer new": true}, tokens); diff != "" {
		t.Errorf("tokens: -want, +got:\n%s", diff)
	}
	if slices.Contains(requests, "GET /api/v1/secrets") {
		t.Errorf("want no list and no watch, got %v", requests)
	}
	p.Forget("ns/a")
	p.Forget("ns/b")
	if len(p.clusters)+len(p.lineages)+len(p.consumers)+len(p.opened) > 0 {
		t.Error("want nothing left of a connection without consumers")
	}
}

// TestRotateLeaves checks which consumers have to move to another connection, and that no request for a consumer has the token of
// another Secret.
func TestRotateLeaves(t *testing.T) {
	const own = "n/own/k"
	cases := map[string]struct {
		reason string
		// before changes the pool after the consumer ns/a has connected with the token "old" from the Secret own.
		before func(t *testing.T, s *apiServer, p *Pool)
		change func(s *apiServer, c *Credentials)
		left   []string
	}{
		"Token": {reason: "The token is replaced."},
		"Shared": {
			reason: "Another Secret has the same credentials, and still has the previous ones.", left: []string{"ns/a"},
			before: func(t *testing.T, s *apiServer, p *Pool) {
				t.Helper()
				must[*Cluster](t)(p.Get("ns/other", s.from("m/other/k", "old")))
			},
		},
		"SharedBefore": {
			reason: "A pass of a consumer that has left can still use the connection.", left: []string{"ns/a"},
			before: func(t *testing.T, s *apiServer, p *Pool) {
				t.Helper()
				must[*Cluster](t)(p.Get("ns/other", s.from("m/other/k", "old")))
				p.Forget("ns/other")
			},
		},
		"SameSecret": {
			reason: "Two configs with the same Secret always have the same credentials.",
			before: func(t *testing.T, s *apiServer, p *Pool) {
				t.Helper()
				must[*Cluster](t)(p.Get("ns/b", s.from(own, "old")))
			},
		},
		"Exists": {
			reason: "Another Secret already has the new credentials.", left: []string{"ns/a"},
			before: func(t *testing.T, s *apiServer, p *Pool) {
				t.Helper()
				must[*Cluster](t)(p.Get("ns/other", s.from("m/other/k", "new")))
			},
		},
		"Server":   {reason: "It is another server.", left: []string{"ns/a"}, change: func(s *apiServer, c *Credentials) { *c = s.credentials("new", "/prefix"); c.origin = own }},
		"Secret":   {reason: "The config names another Secret.", left: []string{"ns/a"}, change: func(_ *apiServer, c *Credentials) { c.origin = "n/another/k" }},
		"Tenant":   {reason: "Other addresses are refused to a tenant.", left: []string{"ns/a"}, change: func(_ *apiServer, c *Credentials) { c.platform = false }},
		"Invalid":  {reason: "The kubeconfig is invalid.", left: []string{"ns/a"}, change: func(_ *apiServer, c *Credentials) { c.kubeconfig = []byte("{") }},
		"NoSecret": {reason: "Other sources report no changes.", left: []string{"ns/a"}, change: func(_ *apiServer, c *Credentials) { c.origin = "" }},
		"Identity": {reason: "An identity has its own tokens.", left: []string{"ns/a"}, change: func(_ *apiServer, c *Credentials) {
			c.identity = &identity{kind: v1alpha1.IdentityTypeGoogleApplicationCredentials, data: []byte("x")}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			p := NewPool(fakeInterpreter{})
			defer p.Close()
			c := must[*Cluster](t)(p.Get("ns/a", s.from(own, "old")))
			must[string](t)(c.Version(t.Context()))
			if tc.before != nil {
				tc.before(t, s, p)
			}
			s.reset()
			fresh := s.from(own, "new")
			if tc.change != nil {
				tc.change(s, &fresh)
				fresh.Digest = digest(fresh)
			}
			left, _ := p.Rotate([]string{"ns/a"}, fresh)
			if diff := cmp.Diff(tc.left, left); diff != "" {
				t.Errorf("\n%s\nRotate(...): -want, +got:\n%s", tc.reason, diff)
			}
			if err := c.REST().Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
				t.Error(err)
			}
			_, tokens := s.reset()
			want := map[string]bool{"Bearer new": true}
			if len(tc.left) > 0 {
				want = map[string]bool{"Bearer old": true}
			}
			if diff := cmp.Diff(want, tokens); diff != "" {
				t.Errorf("\n%s\ntokens of the connection: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRotateLeaving checks that a consumer that had to leave a shared connection gets one of its own, whose token can be replaced.
func TestRotateLeaving(t *testing.T) {
	s := newAPIServer(t)
	p := NewPool(fakeInterpreter{})
	defer p.Close()
	get := must[*Cluster](t)
	shared := get(p.Get("ns/other", s.from("m/other/k", "one")))
	if get(p.Get("ns/a", s.from("n/own/k", "one"))) != shared {
		t.Fatal("want a shared connection")
	}
	p.Rotate([]string{"ns/a"}, s.from("n/own/k", "two"))
	moved := get(p.Get("ns/a", s.from("n/own/k", "two")))
	if moved == shared || get(p.Get("ns/other", s.from("m/other/k", "one"))) != shared {
		t.Error("want the consumer to leave the other one")
	}
	if left, _ := p.Rotate([]string{"ns/a"}, s.from("n/own/k", "three")); len(left) > 0 || get(p.Get("ns/a", s.from("n/own/k", "three"))) != moved {
		t.Error("want the consumer to keep its connection from now on")
	}
	eventually(t, "the new token is probed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.tokens["Bearer three"]
	})
	for _, c := range []*Cluster{shared, moved} {
		s.reset()
		if err := c.REST().Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
			t.Error(err)
		}
		_, tokens := s.reset()
		want := map[string]bool{"Bearer one": true}
		if c == moved {
			want = map[string]bool{"Bearer three": true}
		}
		if diff := cmp.Diff(want, tokens); diff != "" {
			t.Errorf("tokens: -want, +got:\n%s", diff)
		}
	}
}

// TestRotateExpired checks that the consumers of a server that rejects the token are called when it accepts the new one.
func TestRotateExpired(t *testing.T) {
	s := newAPIServer(t)
	woken := make(chan string, 10)
	p := NewPool(fakeInterpreter{}, WithOnRetry(func(consumer string) { woken <- consumer }))
	defer p.Close()
	c := must[*Cluster](t)(p.Get("ns/a", s.from("n/s/k", "expired")))
	_ = c.Ready()
	<-woken
	if state := c.Outcome().State; state != transport.Unauthorized {
		t.Fatalf("want Unauthorized, got %s", state)
	}
	if _, connected := p.Rotate([]string{"ns/a"}, s.from("n/s/k", "new")); connected {
		t.Error("Rotate(...): want a connection that isn't known to work yet")
	}
	<-woken
	if err := c.Ready(); err != nil {
		t.Errorf("want a connected cluster, got %v", err)
	}
	p.Rotate([]string{"ns/a"}, s.from("n/s/k", "expired"))
	eventually(t, "an idle connection notices that its new token is rejected", func() bool { return c.Outcome().State == transport.Unauthorized })
}

// TestRotateIdle checks that consumers are only called after a rotation if one of them waits for it. All others know nothing about the
// rejected token.
func TestRotateIdle(t *testing.T) {
	s := newAPIServer(t)
	woken := make(chan string, 10)
	p := NewPool(fakeInterpreter{}, WithOnRetry(func(consumer string) { woken <- consumer }))
	defer p.Close()
	c := must[*Cluster](t)(p.Get("ns/a", s.from("n/s/k", "first")))
	_ = c.Ready()
	<-woken
	for token, waits := range map[string]bool{"second": false, "third": true} {
		p.Rotate([]string{"ns/a"}, s.from("n/s/k", "expired"))
		eventually(t, "the token is rejected", func() bool { return c.Outcome().State == transport.Unauthorized })
		if waits && c.Ready() == nil {
			t.Error("Ready(): want an error while the token is rejected")
		}
		p.Rotate([]string{"ns/a"}, s.from("n/s/k", token))
		eventually(t, "the next token is accepted", func() bool { return c.Outcome().State == transport.Connected })
		if waits {
			<-woken
		}
		// A call would have been made by now, because a request comes after it.
		if err := c.REST().Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
			t.Error(err)
		}
		if n := len(woken); n > 0 {
			t.Errorf("token %s: want no call, got %d", token, n)
		}
	}
}

// TestRotateRace checks that consumers of two Secrets with partly equal tokens never use the token of the other Secret while both are
// rotated, and that the connections of both end with the last tokens.
func TestRotateRace(t *testing.T) {
	s := newAPIServer(t)
	m := metrics.New(nil, version.Build{})
	p := NewPool(fakeInterpreter{}, WithMetrics(m))
	const rounds = 30
	token := func(secret string, i int) string {
		if i%3 == 0 {
			return "both" // Then the Secrets can share a connection.
		}
		return fmt.Sprint(secret, i)
	}
	s.instead = func(w http.ResponseWriter, r *http.Request) {
		used := r.Header.Get("Authorization")
		if of, ok := strings.CutPrefix(r.URL.Path, "/of/"); ok && used != "Bearer both" && !strings.HasPrefix(used, "Bearer "+of) {
			t.Errorf("a consumer of Secret %s used %q", of, used)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
	}
	var wg sync.WaitGroup
	for _, secret := range []string{"x", "y"} {
		wg.Go(func() {
			for i := range rounds {
				p.Rotate([]string{secret + "/0", secret + "/1"}, s.from(secret, token(secret, i)))
			}
		})
		for j := range 2 {
			wg.Go(func() {
				consumer := secret + "/" + strconv.Itoa(j)
				for i := range rounds {
					c, err := p.Get(consumer, s.from(secret, token(secret, i)))
					if err != nil {
						t.Error(err)
						return
					}
					_ = c.REST().Get().AbsPath("/of/" + secret).Do(t.Context()).Error()
					if i%7 == 0 {
						p.Forget(consumer)
					}
				}
			})
		}
	}
	wg.Wait()
	for _, secret := range []string{"x", "y"} {
		last := s.from(secret, secret+"last")
		must[*Cluster](t)(p.Get(secret+"/0", last))
		p.Rotate([]string{secret + "/0"}, last)
		if e := p.consumers[secret+"/0"]; e.digest != last.Digest && e.lineage != "" {
			t.Errorf("the connection of Secret %s does not have its last token", secret)
		}
	}
	p.Close()
	if n := testutil.ToFloat64(m.TargetConnections); n != 0 || len(p.clusters)+len(p.lineages)+len(p.opened) > 0 {
		t.Errorf("want no connection left, got %v", n)
	}
}
