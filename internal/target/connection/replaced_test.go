// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
)

// A movingServer is an address behind which clusters change.
type movingServer struct {
	*httptest.Server

	// uid is the UID of the cluster that responds, or empty if the credentials don't allow reading it.
	uid string
	// down makes a proxy respond instead of an API server.
	down bool
	// during is called while the UID is requested. It can be nil.
	during func()
	// asked counts the requests for the UID.
	asked atomic.Int64
	// listed counts the lists of Secrets, and closing expire ends the watch after the first of them. checked counts those of one Secret,
	// and watched the watches that can end.
	listed, checked, watched atomic.Int64
	expire                   chan struct{}
}

// newMovingServer returns a server of cluster a, and a connection to it.
func newMovingServer(t *testing.T, http2 bool, replaced func(*Cluster)) (*movingServer, *Cluster) {
	t.Helper()
	s := &movingServer{uid: "a", expire: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.EnableHTTP2, s.Config.ErrorLog = http2, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	o := onLoopback()
	o.Replaced, o.Builtin = replaced, mapper.Builtin()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c, err := New(&rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, nothing{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return s, c
}

func (s *movingServer) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case s.down:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/version":
		fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
	case r.URL.Query().Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","message":"no","code":422}`)
	case r.URL.Query().Get("watch") != "" && s.listed.Load() == 1:
		// The first watch ends, and cannot be resumed.
		w.(http.Flusher).Flush()
		s.watched.Add(1)
		<-s.expire
		fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.URL.Path == "/api/v1/secrets":
		if r.URL.Query().Get("limit") == "1" {
			s.checked.Add(1)
		} else {
			s.listed.Add(1)
		}
		fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[]}`)
	case s.uid == "":
		s.asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
	default:
		s.asked.Add(1)
		if s.during != nil {
			s.during()
		}
		fmt.Fprintf(w, `{"metadata":{"name":"kube-system","uid":%q}}`, s.uid)
	}
}

// await waits for a condition, and fails the test if it is not met within a minute.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for tick, end := time.Tick(time.Millisecond), time.After(time.Minute); !met(); {
		select {
		case <-tick:
		case <-end:
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// TestReplacedCluster checks when the UID is requested again, and that a connection can't be used any longer once its address belongs to a
// different cluster.
func TestReplacedCluster(t *testing.T) {
	const replaced = "API server HOST now serves the cluster with UID b (previously a); opening a new connection"
	type want struct {
		uid, err         string
		asked, replacing int64
	}
	becomes := func(uid string, events ...func(*movingServer, *Cluster)) func(*movingServer, *Cluster) {
		return func(s *movingServer, c *Cluster) {
			s.uid = uid
			for _, event := range events {
				event(s, c)
			}
		}
	}
	// reconnects closes the network connection, and waits until the client has noticed it.
	reconnects := func(s *movingServer, c *Cluster) {
		epoch := c.epoch()
		s.CloseClientConnections()
		await(t, "the client notices that the connection was closed", func() bool { return c.epoch() != epoch })
	}
	// outage is an outage of everything behind a proxy, which keeps the network connection.
	outage := func(s *movingServer, c *Cluster) {
		s.down = true
		for range 3 {
			_, _ = c.requestVersion(t.Context())
		}
		s.down = false
		_, _ = c.requestVersion(t.Context())
	}
	secrets := []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}}
	relists := func(s *movingServer, c *Cluster) {
		epoch := c.epoch()
		c.Cache().Track(t.Context(), secrets)
		close(s.expire)
		await(t, "the kind is listed again", func() bool { return s.listed.Load() == 2 && c.epoch() != epoch })
	}
	cases := map[string]struct {
		reason string
		event  func(*movingServer, *Cluster)
		want   want
	}{
		"Nothing":     {reason: "The same network connection leads to the same cluster.", event: becomes("b"), want: want{uid: "a", asked: 1}},
		"Same":        {reason: "The cluster is still the same.", event: becomes("a", reconnects), want: want{uid: "a", asked: 2}},
		"Reconnected": {reason: "Another network connection can lead to another cluster.", event: becomes("b", reconnects), want: want{err: replaced, asked: 2, replacing: 1}},
		"Outage":      {reason: "After an outage, a proxy can forward to another cluster.", event: becomes("b", outage), want: want{err: replaced, asked: 2, replacing: 1}},
		"Relisted":    {reason: "A watch that cannot be resumed can be one of another cluster.", event: becomes("b", relists), want: want{err: replaced, asked: 2, replacing: 1}},
		"Forbidden":   {reason: "Credentials without the permission prove nothing.", event: becomes("", reconnects), want: want{asked: 2}},
		"Forgotten": {
			reason: "The last known UID counts.",
			event: func(s *movingServer, c *Cluster) {
				becomes("", reconnects)(s, c)
				_, _ = c.UID(t.Context())
				becomes("b", reconnects)(s, c)
			},
			want: want{err: replaced, asked: 3, replacing: 1},
		},
	}
	for name, tc := range cases {
		for protocol, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
			t.Run(name+protocol, func(t *testing.T) {
				replacing := atomic.Int64{}
				s, c := newMovingServer(t, http2, func(*Cluster) { replacing.Add(1) })
				if !http2 {
					// See TestFirstContact.
					_, _ = c.requestVersion(t.Context())
				}
				if uid, err := c.UID(t.Context()); uid != "a" || err != nil {
					t.Fatalf("UID(...): %q, %v", uid, err)
				}
				tc.event(s, c)
				uid, err := c.UID(t.Context())
				got := want{uid: uid, asked: s.asked.Load(), replacing: replacing.Load()}
				if err != nil {
					got.err = strings.ReplaceAll(err.Error(), s.URL, "HOST")
				}
				if e := (*ReplacedError)(nil); errors.As(err, &e) != (tc.want.err != "") {
					t.Errorf("\n%s\nwant a ReplacedError, got %v", tc.reason, err)
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("\n%s\nUID(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestLostWatch checks that the version of the cluster is requested after a network connection was lost, and that its kinds are not listed.
func TestLostWatch(t *testing.T) {
	for protocol, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		t.Run(protocol, func(t *testing.T) {
			s, c := newMovingServer(t, http2, nil)
			t.Cleanup(func() { close(s.expire) })
			gvks := []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}}
			if failed := c.Cache().Track(t.Context(), gvks); len(failed) > 0 {
				t.Fatal(failed)
			}
			await(t, "the watch begins", func() bool { return s.watched.Load() == 1 })
			time.Sleep(time.Second) // After a shorter watch without events, the kind would be listed.
			s.CloseClientConnections()
			await(t, "the version is requested", func() bool { return s.checked.Load() == 1 })
			if n := s.listed.Load(); n != 1 {
				t.Errorf("want one list, got %d", n)
			}
		})
	}
}

// TestConfirmUID checks that a confirmation always sends a request, and that it serves the following calls of UID, too.
func TestConfirmUID(t *testing.T) {
	s, c := newMovingServer(t, true, nil)
	for i, ask := range []func() (string, error){
		func() (string, error) { return c.ConfirmUID(t.Context()) },
		func() (string, error) { return c.ConfirmUID(t.Context()) },
		func() (string, error) { return c.UID(t.Context()) },
	} {
		if uid, err := ask(); uid != "a" || err != nil {
			t.Errorf("request %d: %q, %v", i, uid, err)
		}
	}
	if got := s.asked.Load(); got != 2 {
		t.Errorf("want 2 requests, got %d", got)
	}
}

// TestHiddenUID checks how long a UID is valid that the cluster doesn't reveal, or no longer reveals, on the same network connection.
func TestHiddenUID(t *testing.T) {
	cases := map[string]struct {
		reason string
		known  string
		is     string
		want   time.Duration
	}{
		"Never":   {reason: "The credentials don't change soon.", want: knownUIDFor},
		"Anymore": {reason: "An API server that has just started denies requests.", known: "a", want: hiddenUIDFor},
		"Known":   {reason: "A proxy can forward to a different cluster.", is: "a", want: knownUIDFor},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c := newMovingServer(t, true, nil)
			s.uid, c.uid.known = tc.is, tc.known
			before := time.Now()
			if _, err := c.UID(t.Context()); err != nil {
				t.Fatal(err)
			}
			if until := c.uid.last.Load().until; until.Before(before.Add(tc.want)) || until.After(time.Now().Add(tc.want)) {
				t.Errorf("\n%s\nUID(...): want it to be valid for %s, got %s", tc.reason, tc.want, until.Sub(before))
			}
		})
	}
}

// TestFirstContact checks how often the UID is requested when two callers ask for it after each other: once, if the request was the first one on the only
// connection. Without HTTP/2, the connection that shows this is closed. And what happened during the request counts.
func TestFirstContact(t *testing.T) {
	cases := map[string]struct {
		reason string
		http2  bool
		// early is true if another request, which gives up, has dialed the connection.
		early bool
		// doubts is true if the UID is doubted during the first request.
		doubts bool
		want   int64
	}{
		"HTTP2":       {reason: "The request was the first one.", http2: true, want: 1},
		"HTTP1":       {reason: "Another connection was opened and closed meanwhile.", want: 2},
		"Doubts":      {reason: "Another cluster can respond from now on.", http2: true, doubts: true, want: 2},
		"Early":       {reason: "The connection was dialed before.", http2: true, early: true, want: 1},
		"DoubtsEarly": {reason: "The doubt is not the connection that was dialed before.", http2: true, early: true, doubts: true, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c := newMovingServer(t, tc.http2, func(*Cluster) {})
			shake := make(chan struct{})
			if tc.early {
				s.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
					<-shake
					return nil, nil //nolint:nilnil // The usual config is used.
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { _, _ = c.requestVersion(ctx); close(ended) }()
				await(t, "a connection is dialed", func() bool { return c.epoch() > 0 })
				cancel()
				<-ended
			}
			s.during = func() {
				if tc.doubts && s.asked.Load() == 1 {
					c.doubtUID()
				}
			}
			time.AfterFunc(10*time.Millisecond, func() { close(shake) })
			for range 2 {
				if uid, err := c.UID(t.Context()); uid != "a" || err != nil {
					t.Fatalf("%s\nUID(...): %q, %v", tc.reason, uid, err)
				}
			}
			if n := s.asked.Load(); n != tc.want {
				t.Errorf("%s\nwant %d requests, got %d", tc.reason, tc.want, n)
			}
		})
	}
}
