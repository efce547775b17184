// SPDX-License-Identifier: Apache-2.0

package notfound

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// canary is part of each page, and must not be part of any error.
const canary = "canary"

// TestAnswers checks each form of 404 with a real client.
func TestAnswers(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"NotFound",`
	cases := map[string]struct {
		reason      string
		contentType string
		body        string
		is, object  bool
	}{
		"Object":    {reason: "An API server names the object.", body: status + `"details":{"name":"web","kind":"configmaps"},"code":404}`, is: true, object: true},
		"Group":     {reason: "An API server names the group too.", body: status + `"details":{"name":"web","group":"x.io","kind":"configmaps"},"code":404}`, is: true, object: true},
		"Kind":      {reason: "Some aggregated API servers name the kind.", body: status + `"details":{"name":"web","kind":"ConfigMap"},"code":404}`, is: true, object: true},
		"NoKind":    {reason: "The name is enough.", body: status + `"details":{"name":"web"},"code":404}`, is: true, object: true},
		"Namespace": {reason: "The API server names the namespace that does not exist.", body: status + `"details":{"name":"apps","kind":"namespaces"},"code":404}`, is: true},
		"Cluster":   {reason: "A gateway knows no such cluster.", body: status + `"details":{"name":"web","kind":"clusters"},"code":404}`, is: true},
		"NoName":    {reason: "The response names no object.", body: status + `"details":{"kind":"configmaps"},"code":404}`},
		"NoDetails": {reason: "The response has no details.", body: status + `"code":404}`},
		"OtherCode": {reason: "A Status that contradicts itself.", body: status + `"details":{"name":"web","kind":"configmaps"},"code":500}`},
		"Path":      {reason: "An API server does not know the path; so says any server made with Go.", contentType: "text/plain; charset=utf-8", body: "404 page not found\n"},
		"Backend":   {reason: "An ingress has no backend.", contentType: "text/plain", body: "default backend - 404 " + canary},
		"HTML":      {reason: "A proxy has a page.", contentType: "text/html", body: "<html>" + canary + "</html>"},
		"Gateway":   {reason: "A gateway has JSON of its own.", body: `{"type":"error","status":"404","code":"NotFound","message":"canary"}`},
		"Empty":     {reason: "The response has no content."},
		"Broken":    {reason: "A Status that was cut off.", body: status},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				if tc.contentType == "" {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer server.Close()
			c, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Wrap(c.RESTClient().Get().AbsPath("/api/v1/namespaces/apps/configmaps/web").Do(t.Context()).Error(), "wrapped")
			got := []bool{Is(err), IsObject(err, "configmaps", "web"), Foreign(err), Ignore(err) == nil}
			if diff := cmp.Diff([]bool{tc.is, tc.object, !tc.is, tc.is}, got); diff != "" {
				t.Errorf("%s\nIs, IsObject, Foreign, Ignore: -want, +got:\n%s\nof %v", tc.reason, diff, err)
			}
			if tc.is {
				return
			}
			if e := Explain(err); strings.Contains(e.Error(), canary) || strings.Contains(e.Error(), "\n") || kerrors.IsNotFound(e) {
				t.Errorf("%s\nwant one line without the answer, and no error that others take for theirs, got %v", tc.reason, e)
			}
		})
	}
}

func TestOtherErrors(t *testing.T) {
	other := errors.New("boom")
	cases := map[string]struct {
		reason      string
		err         error
		is, foreign bool
		explained   error
	}{
		"None":      {reason: "No error is no 404."},
		"Other":     {reason: "Other errors stay as they are.", err: other, explained: other},
		"Made":      {reason: "A cache answers as an API server does.", err: kerrors.NewNotFound(schema.GroupResource{Resource: "kymas"}, "a"), is: true},
		"Explained": {reason: "An error that was explained stays what it is.", err: errors.Wrap(&Error{Host: "h"}, "w"), foreign: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]bool{tc.is, tc.foreign}, []bool{Is(tc.err), Foreign(tc.err)}); diff != "" {
				t.Errorf("%s\nIs, Foreign: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.explained != nil && !errors.Is(Explain(tc.err), tc.explained) {
				t.Errorf("%s\nwant %v, got %v", tc.reason, tc.explained, Explain(tc.err))
			}
		})
	}
}

func TestServed(t *testing.T) {
	const groups = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]}`
	widget := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	cases := map[string]struct {
		reason string
		paths  map[string]string
		gvk    schema.GroupVersionKind
		want   bool
		err    string
	}{
		"Served": {
			reason: "The list of resources has it.", gvk: widget, want: true,
			paths: map[string]string{"/apis/example.org/v1": `{"kind":"APIResourceList","groupVersion":"example.org/v1","resources":[{"name":"widgets","kind":"Widget"}]}`},
		},
		"OtherKind": {
			reason: "The list of resources has others.", gvk: widget,
			paths: map[string]string{"/apis/example.org/v1": `{"kind":"APIResourceList","groupVersion":"example.org/v1","resources":[{"name":"gadgets","kind":"Gadget"}]}`},
		},
		"Subresource": {
			reason: "A kind that only a subresource has is not one of objects.", gvk: schema.GroupVersionKind{Version: "v1", Kind: "Eviction"},
			paths: map[string]string{"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods/eviction","kind":"Eviction","group":"policy","version":"v1"}]}`},
		},
		"NoGroup":   {reason: "The list of groups does not have its group.", gvk: widget, paths: map[string]string{"/apis": groups}},
		"NoVersion": {reason: "The list of groups does not have its version.", gvk: schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}, paths: map[string]string{"/apis": groups}},
		"NoCore": {
			reason: "The core group has a list of versions.", gvk: schema.GroupVersionKind{Version: "v2", Kind: "Secret"},
			paths: map[string]string{"/api": `{"kind":"APIVersions","versions":["v1"]}`},
		},
		"Inconsistent": {
			reason: "The documents contradict each other.", gvk: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, paths: map[string]string{"/apis": groups},
			err: "the cluster lists API version apps/v1, but returns 404 Not Found for it",
		},
		"Page":       {reason: "A page is not a response of an API server.", gvk: widget, err: "the 404 Not Found response is not from a Kubernetes API server"},
		"PageOfCore": {reason: "A page is not a response of an API server for the core group.", gvk: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, err: "the 404 Not Found response is not from a Kubernetes API server"},
		"Empty":      {reason: "No API server has no group at all.", gvk: widget, paths: map[string]string{"/apis": `{"kind":"APIGroupList","groups":[]}`}, err: "not a list of API groups"},
		"OtherJSON":  {reason: "The response is not a list of groups.", gvk: widget, paths: map[string]string{"/apis": `{"groups":[]}`}, err: "not a list of API groups"},
		"OtherList":  {reason: "The response is the list of another version.", gvk: widget, paths: map[string]string{"/apis/example.org/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`}, err: "not a list of API resources"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, ok := tc.paths[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, body)
			}))
			defer server.Close()
			get, err := Getter(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Served(t.Context(), get, tc.gvk)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nServed(...): want %t and error %q, got %t, %v", tc.reason, tc.want, tc.err, got, err)
			}
		})
	}
}

func TestListed(t *testing.T) {
	get := func(context.Context, string) ([]byte, error) {
		return []byte(`{"kind":"APIResourceList","groupVersion":"v1","resources":[` +
			`{"name":"bindings","kind":"Binding","verbs":["create"]},{"name":"secrets","kind":"Secret","verbs":["get","list"]}]}`), nil
	}
	for kind, want := range map[string]bool{"Binding": false, "Secret": true, "Widget": false} {
		got, err := Listed(t.Context(), get, schema.GroupVersionKind{Version: "v1", Kind: kind})
		if err != nil || got != want {
			t.Errorf("Listed(%s): want %t, got %t, %v", kind, want, got, err)
		}
	}
}

func TestElsewhere(t *testing.T) {
	const (
		groups = `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"version":"v3"}]},{"name":"example.org","versions":[{"version":"v1"},{"version":"v2"},{"version":"v1beta1"}]}]}`
		others = `{"kind":"APIResourceList","groupVersion":"example.org/v2","resources":[{"name":"gadgets","kind":"Gadget"},{"name":"gadgets/old","kind":"Widget"},{"name":"reviews","kind":"Review","verbs":["create"]}]}`
		beta   = `{"kind":"APIResourceList","groupVersion":"example.org/v1beta1","resources":[{"name":"widgets","kind":"Widget","namespaced":true,"verbs":["get","list"]}]}`
	)
	many := `{"kind":"APIGroupList","groups":[{"name":"example.org","versions":[` + strings.Repeat(`{"version":"v2"},`, 100) + `{"version":"v3"}]}]}`
	all := map[string]string{"/apis": groups, "/apis/example.org/v2": others, "/apis/example.org/v1beta1": beta}
	cases := map[string]struct {
		reason string
		paths  map[string]string
		kind   string
		want   string
		err    string
	}{
		"Other":        {reason: "A later version has the kind.", paths: all, kind: "Widget", want: "widgets in v1beta1"},
		"First":        {reason: "The search ends with the first version.", paths: map[string]string{"/apis": groups, "/apis/example.org/v2": others}, kind: "Gadget", want: "gadgets in v2"},
		"None":         {reason: "No version has the kind.", paths: all, kind: "Thing"},
		"NoObjects":    {reason: "A kind that can only be created has no objects.", paths: all, kind: "Review"},
		"NoGroup":      {reason: "The cluster does not serve the group.", paths: map[string]string{"/apis": `{"kind":"APIGroupList","groups":[{"name":"apps"}]}`}, kind: "Widget"},
		"Inconsistent": {reason: "A version cannot be read.", paths: map[string]string{"/apis": groups}, kind: "Widget", err: "the cluster lists API version example.org/v2, but returns 404 Not Found for it"},
		"Page":         {reason: "A page is not a response of an API server.", kind: "Widget", err: "the 404 Not Found response is not from a Kubernetes API server"},
		"TooMany":      {reason: "A cluster cannot cause any number of requests.", paths: map[string]string{"/apis": many}, kind: "Thing", err: `the cluster lists 101 versions of API group "example.org", more than the limit of 100`},
		"OtherJSON":    {reason: "The response is not a list of groups.", paths: map[string]string{"/apis": `{"groups":[]}`}, kind: "Widget", err: "not a list of API groups"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := Elsewhere(t.Context(), func(_ context.Context, path string) ([]byte, error) {
				if body, ok := tc.paths[path]; ok {
					return []byte(body), nil
				}
				return nil, &Error{}
			}, schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: tc.kind})
			got := ""
			if r != nil {
				got = r.Name + " in " + r.Version
			}
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nElsewhere(...): want %q and error %q, got %q, %v", tc.reason, tc.want, tc.err, got, err)
			}
		})
	}
}

// TestHeld checks that no document counts in the budget while the next one is requested.
func TestHeld(t *testing.T) {
	const mib = 1 << 20
	space := strings.Repeat(" ", 5*mib) // It becomes 20 MiB.
	documents := map[string]string{
		"/apis":                `{"kind":"APIGroupList","groups":[{"name":"example.org","versions":[{"version":"v2"},{"version":"v3"}]}]}`,
		"/apis/example.org/v2": `{"kind":"APIResourceList","groupVersion":"example.org/v2","resources":[]}`,
		"/apis/example.org/v3": `{"kind":"APIResourceList","groupVersion":"example.org/v3","resources":[]}`,
	}
	b := decoding.New(64 * mib) // 48 MiB for what is decoded.
	read := func(ctx context.Context, content string) ([]byte, error) {
		content += space
		out, _, err := b.Read(ctx, decoding.Source{Reader: strings.NewReader(content), Most: int64(len(content))})
		return out, err
	}
	get := func(ctx context.Context, path string) ([]byte, error) {
		// There is room for two documents of another cluster.
		other, done := decoding.Hold(t.Context())
		defer done()
		for range 2 {
			if _, err := read(other, ""); err != nil { //nolint:contextcheck // Another request.
				return nil, errors.Wrap(err, path)
			}
		}
		done()
		content, ok := documents[path]
		if !ok {
			return nil, &Error{}
		}
		return read(ctx, content)
	}
	gvk := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	ctx, done := decoding.Hold(t.Context())
	defer done()
	if served, err := Served(ctx, get, gvk); served || err != nil {
		t.Errorf("Served(...): want a kind that is not served, got %t, %v", served, err)
	}
	if r, err := Elsewhere(ctx, get, gvk); r != nil || err != nil {
		t.Errorf("Elsewhere(...): want no other version, got %v, %v", r, err)
	}
}
