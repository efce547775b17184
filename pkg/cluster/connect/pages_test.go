// SPDX-License-Identifier: Apache-2.0

package connect_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestPages checks, with a real connection, that a page of a proxy never means that an object does not exist.
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
			requests, identified := atomic.Int64{}, atomic.Bool{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if identified.Load() && r.URL.Path == "/api/v1/namespaces/kube-system" {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"metadata":{"name":"kube-system","uid":"a"}}`)
					return
				}
				w.Header().Set("Content-Type", tc.contentType)
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer s.Close()
			c, err := connect.New(&rest.Config{Host: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			bundle, engine := &manifest.Bundle{Name: "web"}, manifest.New()
			// The page can be the response to the first request of a connection, or to a later one.
			for _, later := range []bool{false, true} {
				identified.Store(later)
				exists, err := engine.Exists(t.Context(), c, bundle)
				checkPage(t, s.URL, "Exists(...)", exists, err)
				seen, err := engine.Observe(t.Context(), c, bundle)
				checkPage(t, s.URL, "Observe(...)", seen.Exists, err)
				removal, err := engine.Remove(t.Context(), c, bundle)
				checkPage(t, s.URL, "Remove(...)", removal.Gone, err)
				versions, err := c.APIVersions(t.Context())
				checkPage(t, s.URL, "APIVersions()", len(versions) > 0, err)
			}
			if requests.Load() == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}

func checkPage(t *testing.T, host, what string, got bool, err error) {
	t.Helper()
	want := "API server " + host + ": the 404 Not Found response is not from a Kubernetes API server; " +
		"check the server in the kubeconfig, and any proxies in between"
	e := (*notfound.Error)(nil)
	if got || !errors.As(err, &e) || transport.Explain(err).Error() != want || strings.Contains(err.Error(), "canary") {
		t.Errorf("%s: want the error %q, got %v, %v", what, want, got, err)
	}
}
