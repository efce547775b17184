// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// busy is the body of a response that is never idle.
type busy struct{ io.ReadCloser }

func (busy) Idle(transport.Waiter) bool { return false }

// A waiter is never woken.
type waiter struct{}

func (waiter) Wake()                   {}
func (waiter) Bookmark(string)         {}
func (waiter) Patience() time.Duration { return 0 }

// bodies replaces the bodies of responses.
type bodies func(io.ReadCloser) io.ReadCloser

func (f bodies) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		resp.Body = f(resp.Body)
	}
	return resp, err
}

// TestWatch checks which events and errors a watch returns.
func TestWatch(t *testing.T) {
	event := func(name string) string {
		return `{"type":"ADDED","object":{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"` + name + `"}}}`
	}
	type want struct {
		Names []string
		// Failed is true if the watch does not begin, and Cut is true if it ends with an error.
		Failed, Cut bool
	}
	cases := map[string]struct {
		reason      string
		contentType string
		code        int
		body        string
		want        want
	}{
		"Events":    {reason: "Events are separated by line breaks.", body: event("a") + "\n" + event("b") + "\n", want: want{Names: []string{"a", "b"}}},
		"Adjoining": {reason: "The decoder is kept while it can contain a part of the next event.", body: event("a") + event("b"), want: want{Names: []string{"a", "b"}}},
		"Half":      {reason: "An event can be incomplete.", body: event("a") + "\n" + event("b")[:20], want: want{Names: []string{"a"}, Cut: true}},
		"NoType":    {reason: "Without a valid content type, the response is decoded as JSON.", contentType: "/", body: event("a"), want: want{Names: []string{"a"}}},
		"Page":      {reason: "A page of a proxy is not a watch.", contentType: "text/html", body: "<p>hello", want: want{Failed: true}},
		"Denied":    {reason: "An error is not a watch.", code: http.StatusForbidden, body: "{}", want: want{Failed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tc.contentType == "" {
					tc.contentType = "application/json"
				}
				w.Header().Set("Content-Type", tc.contentType)
				w.WriteHeader(max(tc.code, http.StatusOK))
				_, _ = io.WriteString(w, tc.body)
			}))
			defer server.Close()
			closed := 0
			client := &http.Client{Transport: &typed{bodies(func(b io.ReadCloser) io.ReadCloser { return busy{&counted{b, &closed}} })}}
			requests, err := RESTClient(&rest.Config{Host: server.URL}, client)
			if err != nil {
				t.Fatal(err)
			}
			c := &watches{rest: requests, reopening: &reopening{allow: func() error { return nil }, isOpen: func() bool { return true }}}
			got := want{}
			s, err := c.Watch(t.Context(), informer.Resource{
				GroupVersionResource: schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"},
			}, metav1.ListOptions{})
			if err != nil {
				got.Failed = true
			} else {
				for {
					if s.Idle(waiter{}) {
						t.Error("want it not to be idle")
					}
					e, err := s.Next()
					if err != nil {
						got.Cut = !errors.Is(err, io.EOF)
						break
					}
					m, _ := meta.Accessor(e.Object)
					got.Names = append(got.Names, m.GetName())
				}
				s.Stop()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nWatch(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if closed == 0 {
				t.Errorf("%s\nwant the body to be closed", tc.reason)
			}
		})
	}
}

// A counted body counts how often it is closed.
type counted struct {
	io.ReadCloser

	n *int
}

func (c *counted) Close() error {
	*c.n++
	return c.ReadCloser.Close()
}
