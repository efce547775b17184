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

// TestKnowsUID checks that the UID is not known anymore when a request is sent on a connection that it opened itself.
func TestKnowsUID(t *testing.T) {
	uid, posts := atomic.Value{}, atomic.Int64{}
	uid.Store("a")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fmt.Sprintf(`{"metadata":{"name":"kube-system","uid":%q}}`, uid.Load()))
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
	if c.KnowsUID() {
		t.Error("want the UID not to be known at first")
	}
	errUnknown := errors.New("the UID is not known")
	// checked is called in the check of a request.
	post := func(checked func()) error {
		if _, err := c.UID(t.Context()); err != nil {
			return err
		}
		ctx := sendcheck.With(t.Context(), func() error {
			checked()
			if !c.KnowsUID() {
				return errUnknown
			}
			return nil
		})
		return c.REST().Post().AbsPath("/api/v1/namespaces/a/secrets").Body([]byte("{}")).Do(ctx).Error()
	}
	if err := post(func() {}); err != nil || posts.Load() != 1 {
		t.Errorf("the same connection: want 1 request, got %d and %v", posts.Load(), err)
	}
	uid.Store("b")
	err = post(func() {
		server.CloseClientConnections()
		for c.KnowsUID() {
			// The client learns that the connection is closed.
		}
	})
	if !errors.Is(err, errUnknown) || posts.Load() != 1 {
		t.Errorf("a new connection: want no request and the error %v, got %d and %v", errUnknown, posts.Load(), err)
	}
	replaced := (*ReplacedError)(nil)
	if err := post(func() {}); !errors.As(err, &replaced) || posts.Load() != 1 {
		t.Errorf("another cluster: want no request and a ReplacedError, got %d and %v", posts.Load(), err)
	}
}
