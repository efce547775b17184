// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

var _ cluster.Identified = &Cluster{}

// TestKnowsUID checks that the UID is not known anymore if the network connection is closed before a request is sent, whether the request
// opens another one or was about to use this one, and if another caller then got a different answer.
func TestKnowsUID(t *testing.T) {
	errUnknown := errors.New("the UID is not known")
	replaced := (*ReplacedError)(nil)
	cases := map[string]struct {
		reason string
		// uid is the UID after the first request; empty if it cannot be read.
		uid string
		// before and while are called before a request is sent, and while it is about to be sent.
		before, while func(reconnect func(), c *Cluster)
		want          error
		posts         int64
		// replaced is true if the next request for the UID shows a different cluster.
		replaced bool
	}{
		"Same":   {reason: "On the same network connection, the UID is known.", uid: "a", posts: 1},
		"Before": {reason: "A request that opens a network connection is refused.", uid: "b", before: func(reconnect func(), _ *Cluster) { reconnect() }, want: errUnknown, replaced: true},
		"While":  {reason: "A request that is about to be sent is refused, too.", uid: "b", while: func(reconnect func(), _ *Cluster) { reconnect() }, want: errUnknown, replaced: true},
		"Hidden": {
			reason: "If another caller finds out that the UID cannot be read, it is not the known one.",
			before: func(reconnect func(), c *Cluster) { reconnect(); _, _ = c.UID(t.Context()) }, want: errUnknown,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			uid, posts := atomic.Value{}, atomic.Int64{}
			uid.Store("a")
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					posts.Add(1)
				}
				w.Header().Set("Content-Type", "application/json")
				if uid.Load() == "" && r.Method == http.MethodGet {
					w.WriteHeader(http.StatusForbidden)
					_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
					return
				}
				_, _ = fmt.Fprintf(w, `{"metadata":{"name":"kube-system","uid":%q}}`, uid.Load())
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			c, err := New(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, nothing{}, onLoopback())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			reconnect := func() {
				epoch := c.epoch()
				server.CloseClientConnections()
				await(t, "the client notices that the connection was closed", func() bool { return c.epoch() != epoch })
			}
			if known, err := c.UID(t.Context()); known != "a" || err != nil || !c.KnowsUID("a") || c.KnowsUID("b") {
				t.Errorf("UID(...): got %q, %v, known: %t", known, err, c.KnowsUID("a"))
			}
			uid.Store(tc.uid)
			if tc.before != nil {
				tc.before(reconnect, c)
			}
			ctx := sendcheck.With(t.Context(), func() error {
				if tc.while != nil {
					tc.while(reconnect, c)
				}
				if !c.KnowsUID("a") {
					return errUnknown
				}
				return nil
			})
			err = c.REST().Post().AbsPath("/api/v1/namespaces/a/secrets").Body([]byte("{}")).Do(ctx).Error()
			if !errors.Is(err, tc.want) || posts.Load() != tc.posts {
				t.Errorf("\n%s\nwant %d requests and the error %v, got %d and %v", tc.reason, tc.posts, tc.want, posts.Load(), err)
			}
			if _, err := c.UID(t.Context()); errors.As(err, &replaced) != tc.replaced {
				t.Errorf("\n%s\nwant the cluster to be replaced: %t, got %v", tc.reason, tc.replaced, err)
			}
		})
	}
}
