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

// TestPage checks, with a pooled connection, that a page of a proxy does not count as a response of the API server. Package connect
// tests other pages, with the engine.
func TestPage(t *testing.T) {
	s := newAPIServer(t)
	requests := atomic.Int64{}
	s.instead = func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<html><body>canary</body></html>")
	}
	p := NewPool(fakeInterpreter{})
	defer p.Close()
	c := must[*Cluster](t)(p.Get("x", s.credentials("t", "")))
	versions, err := c.APIVersions(t.Context())
	want := "API server " + c.Host() + ": the 404 Not Found response is not from a Kubernetes API server; " +
		"check the server in the kubeconfig, and any proxies in between"
	e := (*notfound.Error)(nil)
	if len(versions) > 0 || !errors.As(err, &e) || transport.Explain(err).Error() != want || strings.Contains(err.Error(), "canary") {
		t.Errorf("APIVersions(): want the error %q, got %q, %v", want, versions, err)
	}
	if requests.Load() == 0 {
		t.Error("nothing was asked")
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
