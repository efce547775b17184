// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestLargePages checks that a page that is too large is requested again with fewer objects, down to a few.
func TestLargePages(t *testing.T) {
	const largest = 64 << 10
	type want struct {
		Limits []string
		Failed bool
	}
	cases := map[string]struct {
		reason string
		// size is the size of each object.
		size int
		want want
	}{
		"Small": {reason: "A page that fits is requested once.", size: 50, want: want{Limits: []string{"500"}}},
		"Large": {reason: "A page that doesn't fit is requested with fewer objects.", size: 1 << 10, want: want{Limits: []string{"500", "50"}}},
		"Huge":  {reason: "No more is tried with a few objects.", size: largest, want: want{Limits: []string{"500", "50", "5"}, Failed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				limit := r.URL.Query().Get("limit")
				got.Limits = append(got.Limits, limit)
				n, _ := strconv.Atoi(limit)
				item := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q}}`, strings.Repeat("x", tc.size))
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"apiVersion":"example.org/v1","kind":"WidgetList","metadata":{},"items":[%s]}`,
					strings.TrimSuffix(strings.Repeat(item+",", n), ","))
			}))
			defer server.Close()
			guard := netguard.New(netguard.Options{})
			c, err := New(&rest.Config{Host: server.URL}, nil, Options{Transport: transport.Options{
				Limits: transport.Limits{AnswerBytes: largest}, Dialer: guard.Dialer(netguard.Platform),
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			client := &watchClient{watches: watches{rest: c.rest, reopening: &reopening{allow: c.transport.Refusal, isOpen: c.transport.IsOpen}}, config: c.Config, get: c.get}
			list, err := client.List(t.Context(), informer.Resource{
				GroupVersionResource: schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"},
			}, metav1.ListOptions{Limit: 500})
			got.Failed = err != nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nList(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err == nil && len(list.(*unstructured.UnstructuredList).Items) == 0 {
				t.Errorf("%s: the list is empty", tc.reason)
			}
		})
	}
}
