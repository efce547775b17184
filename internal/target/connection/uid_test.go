// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestUID checks the UID for each response of the server, and how often it is requested.
func TestUID(t *testing.T) {
	const notServer = "API server HOST: the 404 Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, and " +
		"any proxies in between"
	const what = "cannot get the UID of namespace kube-system, which identifies the cluster: "
	const strange = what + "the response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between"
	type want struct {
		uid      string
		err      string
		requests int64
	}
	cases := map[string]struct {
		reason string
		code   int
		body   string
		want   want
	}{
		"Known": {
			reason: "The cluster is known for as long as the connection.", code: http.StatusOK,
			body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":"a-1"}}`,
			want: want{uid: "a-1", requests: 1},
		},
		"Forbidden": {
			reason: "The credentials may not read it, which does not change soon.", code: http.StatusForbidden,
			body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`,
			want: want{requests: 1},
		},
		"Missing": {
			reason: "An API server says that it has no such namespace.", code: http.StatusNotFound,
			body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"name":"kube-system","kind":"namespaces"},"code":404}`,
			want: want{requests: 1},
		},
		"Page": {
			reason: "A page proves nothing, and the next call asks again.", code: http.StatusNotFound, body: "<html>canary</html>",
			want: want{err: what + notServer, requests: 2},
		},
		"Other": {
			reason: "An answer about another object proves nothing.", code: http.StatusNotFound,
			body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"name":"canary","kind":"clusters"},"code":404}`,
			want: want{err: what + notServer, requests: 2},
		},
		"Text": {
			reason: "A page without an error proves nothing either.", code: http.StatusOK, body: "canary",
			want: want{err: strange, requests: 2},
		},
		"Hostile": {
			reason: "A UID has a bounded length.", code: http.StatusOK,
			body: `{"metadata":{"name":"kube-system","uid":"canary ` + strings.Repeat("x", 100) + `"}}`,
			want: want{err: strange, requests: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			requests := atomic.Int64{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if r.URL.Path != "/api/v1/namespaces/kube-system" || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
					t.Errorf("want a request for metadata, got %s, which accepts %s", r.URL.Path, r.Header.Get("Accept"))
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer server.Close()
			c, err := New(&rest.Config{Host: server.URL}, nothing{}, onLoopback())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 {
				uid, err := c.UID(t.Context())
				got := want{uid: uid, requests: tc.want.requests}
				if err != nil {
					got.err = strings.ReplaceAll(err.Error(), server.URL, "HOST")
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("\n%s\nUID(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
			if got := requests.Load(); got != tc.want.requests {
				t.Errorf("\n%s\nwant %d requests, got %d", tc.reason, tc.want.requests, got)
			}
		})
	}
}

// TestUIDIsAskedOnce checks that concurrent callers share one request.
func TestUIDIsAskedOnce(t *testing.T) {
	requests := atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"metadata":{"name":"kube-system","uid":"a"}}`)
	}))
	defer server.Close()
	c, err := New(&rest.Config{Host: server.URL}, nothing{}, onLoopback())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if uid, err := c.UID(t.Context()); uid != "a" || err != nil {
				t.Errorf("UID(...): %q, %v", uid, err)
			}
		})
	}
	callers.Wait()
	if got := requests.Load(); got != 1 {
		t.Errorf("want 1 request, got %d", got)
	}
}

// onLoopback returns the options for a connection to a test server.
func onLoopback() Options {
	return Options{Transport: transport.Options{Dialer: netguard.New(netguard.Options{}).Dialer(netguard.Platform)}}
}

// nothing is an interpreter that returns empty states.
type nothing struct{}

func (nothing) Selector() string                                                    { return "" }
func (nothing) NeedsStatus(schema.GroupKind) bool                                   { return false }
func (nothing) State(*unstructured.Unstructured) (s cluster.ObjectState)            { return s }
func (nothing) Content(*unstructured.Unstructured) (hash [6]byte)                   { return hash }
func (nothing) MetadataState(*metav1.PartialObjectMetadata) (s cluster.ObjectState) { return s }
