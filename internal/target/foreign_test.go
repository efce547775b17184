// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestForeignText checks that errors don't quote the pages of servers that aren't API servers. Otherwise, a tenant could read
// the pages of servers that only the provider can reach.
func TestForeignText(t *testing.T) {
	const page, status = "canary", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no permission","reason":"Forbidden","code":403}`
	cases := map[string]struct {
		reason      string
		code        int
		contentType string
		body        string
		want        string
	}{
		"Forbidden":   {reason: "client-go shows the whole text of a 403.", code: 403, contentType: "text/html", body: page, want: "the response is not from a Kubernetes API server"},
		"NoType":      {reason: "client-go treats an unknown content type as text.", code: 403, body: page, want: "the response is not from a Kubernetes API server"},
		"Error":       {reason: "client-go quotes the text of other errors.", code: 500, contentType: "text/plain", body: page, want: "an error on the server"},
		"Unsupported": {reason: "client-go quotes the text of a 415.", code: 415, contentType: "text/plain", body: page, want: "the response is not from a Kubernetes API server"},
		"JSON":        {reason: "Other JSON isn't shown.", code: 403, contentType: "application/json", body: `{"message":"canary"}`, want: "unknown"},
		"Status":      {reason: "An API server says what is missing.", code: 403, contentType: "application/json", body: status, want: "no permission"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			s.instead = func(w http.ResponseWriter, _ *http.Request) {
				// Otherwise, the server would guess a content type.
				w.Header()["Content-Type"] = nil
				if tc.contentType != "" {
					w.Header().Set("Content-Type", tc.contentType)
				}
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}
			p := NewPool(fakeInterpreter{})
			defer p.Close()
			cluster := must[*Cluster](t)(p.Get("x", s.credentials("t", "")))
			c, err := kubernetes.NewForConfig(cluster.Config())
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.CoreV1().ConfigMaps("ns").Get(t.Context(), "x", metav1.GetOptions{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(transport.Explain(err).Error()+err.Error(), page) {
				t.Errorf("%s\nGet(...): want %q without the page, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
