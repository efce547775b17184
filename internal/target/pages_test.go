// SPDX-License-Identifier: Apache-2.0

package target

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestPages checks, with a real connection, that a page of a proxy never counts as a response of the API server. The engine
// relies on this: see pkg/cluster/connect.
func TestPages(t *testing.T) {
	cases := map[string]struct{ contentType, body string }{
		"HTML":    {contentType: "text/html", body: "<html><body>canary</body></html>"},
		"Backend": {contentType: "text/plain; charset=utf-8", body: "default backend - 404 canary"},
		"Path":    {contentType: "text/plain; charset=utf-8", body: "404 page not found\n"},
		"JSON":    {contentType: "application/json", body: `{"type":"error","status":"404","message":"canary"}`},
		"Status":  {contentType: "application/json", body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"canary","code":404}`},
		"Cluster": {contentType: "application/json", body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"canary","code":404,"details":{"name":"c","kind":"clusters"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			requests := atomic.Int64{}
			s.instead = func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Type", tc.contentType)
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, tc.body)
			}
			p := NewPool(fakeInterpreter{})
			defer p.Close()
			c := must[*Cluster](t)(p.Get("x", s.credentials("t", "")))
			versions, err := c.APIVersions(t.Context())
			check(t, c, "APIVersions()", len(versions) > 0, err)
			if requests.Load() == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}

func check(t *testing.T, c *Cluster, what string, got bool, err error) {
	t.Helper()
	want := "API server " + c.Host() + ": the 404 Not Found response is not from a Kubernetes API server; " +
		"check the server in the kubeconfig, and any proxies in between"
	e := (*notfound.Error)(nil)
	if got || !errors.As(err, &e) || transport.Explain(err).Error() != want || strings.Contains(err.Error(), "canary") {
		t.Errorf("%s: want the error %q, got %v, %v", what, want, got, err)
	}
}

// A fakeInterpreter watches all objects, and returns empty states.
type fakeInterpreter struct{}

func (fakeInterpreter) Selector() string { return "" }

func (fakeInterpreter) NeedsStatus(schema.GroupKind) bool { return false }

func (fakeInterpreter) State(*unstructured.Unstructured) cluster.ObjectState {
	return cluster.ObjectState{}
}

func (fakeInterpreter) Content(*unstructured.Unstructured) (hash [6]byte) { return hash }

func (fakeInterpreter) MetadataState(*metav1.PartialObjectMetadata) cluster.ObjectState {
	return cluster.ObjectState{}
}
