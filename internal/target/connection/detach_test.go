// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
)

// TestDetachedStream checks that a watch of a real connection does not end with the context of its request, and that its server is informed of its end.
func TestDetachedStream(t *testing.T) {
	send, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-send
		_, _ = io.WriteString(w, `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}}`+"\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c, err := New(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, nil, onLoopback())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watches{rest: c.rest, reopening: c.reopening}
	r := informer.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	s, err := w.Watch(ctx, r, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Detached() == nil {
		t.Error("want the watch to be detached")
	}
	cancel()
	close(send)
	e, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	if m, err := meta.Accessor(e.Object); err != nil || m.GetName() != "a" {
		t.Errorf("want the event of an object, got %v", e)
	}
	s.Stop()
	<-ended
}
