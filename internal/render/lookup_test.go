// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// apiServer responds to the requests of lookup, and records their paths.
func apiServer(t *testing.T, paths *[]string) *rest.Config {
	t.Helper()
	answers := map[string]string{
		"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
			{"name":"secrets/x","kind":"Secret"},{"name":"secrets","namespaced":true,"kind":"Secret"},{"name":"namespaces","kind":"Namespace"}]}`,
		"/api/v1/namespaces/ns/secrets/a": `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"dg=="}}`,
		"/api/v1/namespaces/ns/secrets":   `{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
		"/api/v1/secrets":                 `{"kind":"SecretList","apiVersion":"v1","items":[]}`,
		"/api/v1/namespaces/ns":           `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"ns"}}`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*paths = append(*paths, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if a, ok := answers[r.URL.Path]; ok {
			_, _ = w.Write([]byte(a))
			return
		}
		code, reason := http.StatusNotFound, "NotFound"
		if strings.HasSuffix(r.URL.Path, "/forbidden") {
			code, reason = http.StatusForbidden, "Forbidden"
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"` + reason + `","message":"no","details":{"name":"` + path.Base(r.URL.Path) + `"}}`))
	}))
	t.Cleanup(srv.Close)
	return &rest.Config{Host: srv.URL}
}

func TestLookup(t *testing.T) {
	type want struct {
		Out   string
		Err   string
		Paths []string
	}
	cases := map[string]struct {
		reason string
		text   string
		noREST bool
		want   want
	}{
		"Get": {
			reason: "An object in a namespace is returned, and the kinds of a version are requested once.",
			text:   `{{ (lookup "v1" "Secret" "ns" "a").data.k }}{{ (lookup "v1" "Secret" "ns" "a").kind }}`,
			want:   want{Out: "dg==Secret", Paths: []string{"/api/v1", "/api/v1/namespaces/ns/secrets/a", "/api/v1/namespaces/ns/secrets/a"}},
		},
		"List": {
			reason: "All objects of one namespace or of all namespaces are returned.",
			text:   `{{ len (lookup "v1" "Secret" "ns" "").items }}{{ len (lookup "v1" "Secret" "" "").items }}`,
			want:   want{Out: "20", Paths: []string{"/api/v1", "/api/v1/namespaces/ns/secrets", "/api/v1/secrets"}},
		},
		"ClusterScoped": {
			reason: "For a cluster-scoped kind, the namespace is ignored.",
			text:   `{{ (lookup "v1" "Namespace" "ignored" "ns").metadata.name }}`,
			want:   want{Out: "ns", Paths: []string{"/api/v1", "/api/v1/namespaces/ns"}},
		},
		"NotFound": {
			reason: "The result for a missing object is empty.",
			text:   `{{ lookup "v1" "Secret" "ns" "none" }}`,
			want:   want{Out: "map[]", Paths: []string{"/api/v1", "/api/v1/namespaces/ns/secrets/none"}},
		},
		"NoKind": {
			reason: "The result for an unknown kind is empty.",
			text:   `{{ lookup "v1" "Foo" "ns" "none" }}`,
			want:   want{Out: "map[]", Paths: []string{"/api/v1"}},
		},
		"NoVersion": {
			reason: "A version that is not served is an error, as in Helm.",
			text:   `{{ lookup "foo/v1" "Foo" "ns" "none" }}`,
			want: want{
				Err:   `chart "app": templates/a.yaml:1: <lookup "foo/v1" "Foo" "ns" "none">: cannot look up Foo in foo/v1: no`,
				Paths: []string{"/apis/foo/v1"},
			},
		},
		"Forbidden": {
			reason: "A forbidden request is an error.",
			text:   `{{ lookup "v1" "Namespace" "" "forbidden" }}`,
			want: want{
				Err:   `chart "app": templates/a.yaml:1: <lookup "v1" "Namespace" "" "forbidden">: cannot look up Namespace in v1: no`,
				Paths: []string{"/api/v1", "/api/v1/namespaces/forbidden"},
			},
		},
		"NoCluster": {
			reason: "Without a cluster everything is empty.",
			text:   `{{ lookup "v1" "Secret" "ns" "a" }}`,
			noREST: true,
			want:   want{Out: "map[]"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			o := Options{ReleaseName: "rel", REST: apiServer(t, &got.Paths)}
			if tc.noREST {
				o.REST = nil
			}
			c := mustLoad(t, tree{"Chart.yaml": chartYAML("app"), "templates/a.yaml": `{{ define "x" }}` + tc.text + `{{ end }}` + configMap("a", `{{ include "x" . | quote }}`)})
			r, err := c.Render(t.Context(), o)
			got.Err = strings.TrimSuffix(text(err), " (from templates/a.yaml:6)")
			if r != nil {
				got.Out = printed(r.Objects)["a"]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nlookup: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLookupStops(t *testing.T) {
	asked := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()

	c := mustLoad(t, tree{"Chart.yaml": chartYAML("app"), "templates/a.yaml": `{{ lookup "v1" "Secret" "" "" }}`})
	_, err := c.Render(ctx, Options{ReleaseName: "rel", REST: &rest.Config{Host: srv.URL}})
	if want := `chart "app": rendering was stopped: context canceled`; text(err) != want {
		t.Errorf("want %q, got %q", want, text(err))
	}
}
