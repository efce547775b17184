// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A slowServer answers probes, but the request for the UID of its cluster only when it may.
type slowServer struct {
	*httptest.Server

	// asked is closed when the UID is requested for the first time, and closing may lets the server answer.
	asked, may chan struct{}
	once       sync.Once

	mu       sync.Mutex
	requests map[string]int
}

func newSlowServer(t *testing.T) *slowServer {
	t.Helper()
	s := &slowServer{asked: make(chan struct{}), may: make(chan struct{}), requests: map[string]int{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.URL.Path]++
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" {
			fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
			return
		}
		s.once.Do(func() { close(s.asked) })
		select {
		case <-s.may:
			fmt.Fprint(w, `{"metadata":{"name":"kube-system","uid":"a"}}`)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *slowServer) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	maps.Copy(out, s.requests)
	return out
}

// TestReachableDoesNotWait checks that no pass waits for a cluster that answers probes, but not the request for its UID: the connection
// sends this request, and queues the config when the UID is known. It counts the requests to connect.
func TestReachableDoesNotWait(t *testing.T) {
	b, s := newReachableBench(t), newSlowServer(t)
	queued := make(chan struct{}, 1)
	b.attempts.listen(v1alpha1.ProviderConfigKind, func(types.NamespacedName) {
		select {
		case queued <- struct{}{}:
		default:
		}
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c, err := connection.New(&rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, nothing{}, connection.Options{
		Transport: transport.Options{Dialer: netguard.New(netguard.Options{}).Dialer(netguard.Platform)},
		Changed:   func(c *connection.Cluster) { b.attempts.Changed(c) },
		Monitored: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b.attempts.Connected("user", &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c"}, c)
	_ = c.Ready() // It starts the first probe.

	// pass reconciles the config whenever the connection queues it, until done.
	pass := func(what string, done func() bool) {
		t.Helper()
		for asked, end := s.asked, time.After(time.Minute); !done(); {
			select {
			case <-queued:
				b.reconcile(t)
			case <-asked:
				asked = nil
			case <-end:
				t.Fatalf("timed out waiting until %s", what)
			}
		}
	}
	pass("the UID is requested", func() bool {
		select {
		case <-s.asked:
			return true
		default:
			return false
		}
	})
	for range 10 {
		b.reconcile(t)
	}
	if diff := cmp.Diff(reported{}, reportedBy(&b.config(t).Status)); diff != "" {
		t.Errorf("a pass waited for the cluster: -want, +got:\n%s", diff)
	}
	close(s.may)
	want := reported{
		Conditions: []string{"Reachable True Connected API server " + s.URL + " responds", "Ready True Available API server " + s.URL + " responds"},
		Version:    "v1.36.3", UID: "a", Endpoint: s.Listener.Addr().String(),
	}
	pass("the UID is reported", func() bool { return b.config(t).Status.ClusterUID != "" })
	if diff := cmp.Diff(want, reportedBy(&b.config(t).Status)); diff != "" {
		t.Errorf("Reconcile(...): -want, +got:\n%s", diff)
	}
	if b.writes != 1 {
		t.Errorf("want 1 write, got %d", b.writes)
	}
	if diff := cmp.Diff(map[string]int{"/version": 1, "/api/v1/namespaces/kube-system": 1}, s.counts()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}

// nothing is an interpreter that returns empty states.
type nothing struct{}

func (nothing) Selector() string                                                    { return "" }
func (nothing) NeedsStatus(schema.GroupKind) bool                                   { return false }
func (nothing) State(*unstructured.Unstructured) (s cluster.ObjectState)            { return s }
func (nothing) Content(*unstructured.Unstructured) (hash [6]byte)                   { return hash }
func (nothing) MetadataState(*metav1.PartialObjectMetadata) (s cluster.ObjectState) { return s }
