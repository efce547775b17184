// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A movingServer is an address behind which clusters change.
type movingServer struct {
	*httptest.Server

	// uid is the UID of the cluster that responds, or empty if the credentials don't allow reading it.
	uid string
	// down makes a proxy respond instead of an API server.
	down bool
	// asked counts the requests for the UID.
	asked atomic.Int64
}

func (s *movingServer) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case s.down:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/version":
		fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
	case s.uid == "":
		s.asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
	default:
		s.asked.Add(1)
		fmt.Fprintf(w, `{"metadata":{"name":"kube-system","uid":%q}}`, s.uid)
	}
}

// TestReplaced checks when the UID is requested again, and that a connection to an address that belongs to a different cluster from then
// on can't be used any longer.
func TestReplaced(t *testing.T) {
	const replaced = "API server HOST belongs to the cluster with UID b, but belonged to the cluster with UID a before; the provider opens a new connection"
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
		for c.epoch() == epoch && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
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
	relists := func(_ *movingServer, c *Cluster) { c.doubtUID() }
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
		t.Run(name, func(t *testing.T) {
			s := &movingServer{uid: "a"}
			s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
			defer s.Close()
			replacing, o := atomic.Int64{}, onLoopback()
			o.Replaced = func(*Cluster) { replacing.Add(1) }
			c, err := New(&rest.Config{Host: s.URL}, nothing{}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
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

// TestConfirmUID checks that a confirmation always sends a request, and that it serves the following calls of UID, too.
func TestConfirmUID(t *testing.T) {
	s := &movingServer{uid: "a"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	defer s.Close()
	c, err := New(&rest.Config{Host: s.URL}, nothing{}, onLoopback())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
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
