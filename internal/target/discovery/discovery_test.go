// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	core      = `{"kind":"APIVersions","versions":["v1"]}`
	coreKinds = `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod"},{"name":"pods/eviction","kind":"Eviction","group":"policy","version":"v1"}]}`
	apps      = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`
	appsKinds = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment"},{"name":"deployments/status","kind":"Deployment"},{"name":"deployments/scale","kind":"Scale"}]}`

	aggregatedCore = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"creationTimestamp":null},"versions":[` +
		`{"version":"v1","resources":[{"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get"],` +
		`"subresources":[{"subresource":"eviction","responseKind":{"group":"policy","version":"v1","kind":"Eviction"},"verbs":["create"]},{"subresource":"log","responseKind":null}]}],"freshness":"Current"}]}]}`
	aggregatedApps = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"apps"},"versions":[` +
		`{"version":"v1","resources":[{"resource":"deployments","responseKind":{"kind":"Deployment"},"subresources":[{"subresource":"scale","responseKind":{"kind":"Scale"}}]},{"resource":"other"}],"freshness":"Current"},` +
		`{"version":"v1beta1","freshness":"Stale","resources":[{"resource":"deployments","responseKind":{"kind":"Old"}}]}]},` +
		// The fields of an object can have any order.
		`{"versions":[{"resources":[{"subresources":null,"responseKind":{"kind":"Widget"}}],"freshness":"Stale","version":"v2"},{"resources":[{"responseKind":{"kind":"Widget"}}],"version":"v1"},{"version":"v3"}],"metadata":{"name":"example.org"}}],"metadata":{}}`
)

// documents are the responses of a server by path. An entry is an error or a text.
type documents map[string]any

func (d documents) get(_ context.Context, path, _ string) (io.ReadCloser, error) {
	switch r := d[path].(type) {
	case error:
		return nil, r
	case string:
		return io.NopCloser(strings.NewReader(r)), nil
	}
	return nil, &notfound.Error{Host: "HOST"}
}

// with returns the documents of a usual server with other entries.
func with(other documents) documents {
	d := documents{"/api": core, "/api/v1": coreKinds, "/apis": apps, "/apis/apps/v1": appsKinds}
	maps.Copy(d, other)
	return d
}

func status(code int) error {
	return kerrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, "", "no", 0, true)
}

func TestAPIVersions(t *testing.T) {
	const foreign = "API server HOST: the 404 Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between"
	const malformed = "the response for %s is not a discovery document of a Kubernetes API server"
	const tooMany = "API server HOST: the cluster has too many APIs: more than %s; delete CRDs and APIServices that are not needed"
	all := []string{"apps/v1", "apps/v1/Deployment", "apps/v1/Scale", "v1", "v1/Eviction", "v1/Pod"}
	type args struct {
		documents documents
		limits    Limits
	}
	type want struct {
		Versions []string
		Err      string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Each": {
			reason: "A server without the aggregated format is asked for each version.",
			args:   args{documents: with(nil)}, want: want{Versions: all},
		},
		"Aggregated": {
			reason: "In the aggregated format, stale versions are omitted.",
			args:   args{documents: documents{"/api": aggregatedCore, "/apis": aggregatedApps}},
			want: want{Versions: []string{
				"apps/v1", "apps/v1/Deployment", "apps/v1/Scale", "example.org/v1", "example.org/v1/Widget", "example.org/v3", "v1", "v1/Eviction", "v1/Pod",
			}},
		},
		"Mixed": {
			reason: "Each document can have its own format.",
			args:   args{documents: with(documents{"/api": aggregatedCore})}, want: want{Versions: all},
		},
		"Unavailable": {
			reason: "The kinds of an unavailable group are omitted.",
			args:   args{documents: with(documents{"/apis/apps/v1": status(http.StatusServiceUnavailable)})},
			want:   want{Versions: []string{"apps/v1", "v1", "v1/Eviction", "v1/Pod"}},
		},
		"Forbidden": {
			reason: "The kinds of a group whose server can't check permissions are omitted.",
			args:   args{documents: with(documents{"/apis/apps/v1": status(http.StatusForbidden)})},
			want:   want{Versions: []string{"apps/v1", "v1", "v1/Eviction", "v1/Pod"}},
		},
		"AllUnavailable": {
			reason: "Without the list of groups, the kinds are unknown.",
			args:   args{documents: with(documents{"/apis": status(http.StatusServiceUnavailable)})}, want: want{Err: status(http.StatusServiceUnavailable).Error()},
		},
		"Unauthorized": {
			reason: "A rejected request says nothing about the kinds.",
			args:   args{documents: with(documents{"/apis/apps/v1": status(http.StatusUnauthorized)})}, want: want{Err: status(http.StatusUnauthorized).Error()},
		},
		"Lost":        {reason: "A lost connection says nothing about the kinds.", args: args{documents: with(documents{"/apis/apps/v1": errors.New("boom")})}, want: want{Err: "boom"}},
		"Foreign":     {reason: "A proxy doesn't know a group.", args: args{documents: with(documents{"/apis/apps/v1": nil})}, want: want{Err: foreign}},
		"ForeignCore": {reason: "Each API server has a core group.", args: args{documents: with(documents{"/api": nil})}, want: want{Err: foreign}},
		"NoGroups":    {reason: "Each API server has other groups than the core group.", args: args{documents: with(documents{"/apis": `{"kind":"APIGroupList","groups":[]}`})}, want: want{Err: foreign}},
		"NoCore":      {reason: "The list of groups can't replace the core group.", args: args{documents: with(documents{"/api": apps})}, want: want{Err: foreign}},
		"HTML":        {reason: "A login page is not a document.", args: args{documents: with(documents{"/apis": "<html>canary"})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"OtherKind":   {reason: "An object of another kind is not a discovery document.", args: args{documents: with(documents{"/apis": `{"kind":"Status"}`})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"OtherType":   {reason: "A list with elements of another type is not a discovery document.", args: args{documents: with(documents{"/apis": `{"kind":"APIGroupList","groups":["canary"]}`})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"OtherValue":  {reason: "A list whose elements have values of another type is not a discovery document.", args: args{documents: with(documents{"/apis/apps/v1": `{"kind":"APIResourceList","resources":[{"kind":7}]}`})}, want: want{Err: fmt.Sprintf(malformed, "/apis/apps/v1")}},
		"Cut":         {reason: "An incomplete document is not a discovery document.", args: args{documents: with(documents{"/apis": apps[:len(apps)-1]})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"Empty":       {reason: "An empty response is not a discovery document.", args: args{documents: with(documents{"/apis": ""})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"Null":        {reason: "A null is not a discovery document.", args: args{documents: with(documents{"/apis": "null"})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"Trailing":    {reason: "A document that is followed by another one is not a discovery document.", args: args{documents: with(documents{"/apis": apps + apps})}, want: want{Err: fmt.Sprintf(malformed, "/apis")}},
		"Groups": {
			reason: "The number of groups is limited.",
			args:   args{documents: documents{"/api": aggregatedCore, "/apis": aggregatedApps}, limits: Limits{Groups: 2}}, want: want{Err: fmt.Sprintf(tooMany, "2 groups")},
		},
		"Versions": {
			reason: "The number of versions is limited, including those that are stale.",
			args:   args{documents: documents{"/api": aggregatedCore, "/apis": aggregatedApps}, limits: Limits{Versions: 5}}, want: want{Err: fmt.Sprintf(tooMany, "5 versions")},
		},
		"CoreVersions": {
			reason: "The number of versions of the core group is limited.",
			args:   args{documents: with(documents{"/api": `{"kind":"APIVersions","versions":["v1","v2","v3"]}`}), limits: Limits{Versions: 2}}, want: want{Err: fmt.Sprintf(tooMany, "2 versions")},
		},
		"Kinds":   {reason: "The number of kinds is limited for all documents.", args: args{documents: with(nil), limits: Limits{Kinds: 3}}, want: want{Err: fmt.Sprintf(tooMany, "3 kinds")}},
		"Largest": {reason: "A kind of several resources counts once.", args: args{documents: with(nil), limits: Limits{Groups: 1, Versions: 2, Kinds: 4}}, want: want{Versions: all}},
		"Names":   {reason: "The size of the result is limited.", args: args{documents: with(nil), limits: Limits{Names: 40}}, want: want{Err: fmt.Sprintf(tooMany, "0 MiB of names")}},
		"Bytes":   {reason: "The size of all documents is limited.", args: args{documents: with(nil), limits: Limits{Bytes: len(core+coreKinds+apps+appsKinds) - 1}}, want: want{Err: fmt.Sprintf(tooMany, "0 MiB of documents")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Server{Host: "HOST", Get: tc.args.documents.get, Limits: tc.args.limits}
			versions, err := s.APIVersions(t.Context())
			got := want{Versions: versions}
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAPIVersions(...): -want, +got:\n%s", tc.reason, diff)
			}
			limit := (*LimitError)(nil)
			if want := strings.Contains(tc.want.Err, "too many APIs"); errors.As(err, &limit) != want {
				t.Errorf("\n%s\nAPIVersions(...): want a LimitError: %t, got %v", tc.reason, want, err)
			}
		})
	}
}

// TestSameAsClient checks that the result is that of client-go: a different result would upgrade charts that read it.
func TestSameAsClient(t *testing.T) {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	cases := map[string]struct {
		reason      string
		contentType string
		documents   documents
	}{
		"Each":       {reason: "The result is the same if each version has its own document.", contentType: "application/json", documents: with(nil)},
		"Aggregated": {reason: "The result is the same in the aggregated format.", contentType: aggregated, documents: documents{"/api": aggregatedCore, "/apis": aggregatedApps}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if root := r.URL.Path == "/api" || r.URL.Path == "/apis"; root && !strings.HasPrefix(r.Header.Get("Accept"), aggregated) {
					t.Errorf("%s: Accept is %s", r.URL.Path, r.Header.Get("Accept"))
				}
				w.Header().Set("Content-Type", tc.contentType)
				_, _ = fmt.Fprint(w, tc.documents[r.URL.Path])
			}))
			defer server.Close()
			client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			groups, lists, _ := client.ServerGroupsAndResourcesWithContext(t.Context())
			var want []string
			for _, g := range groups {
				for _, v := range g.Versions {
					want = append(want, v.GroupVersion)
				}
			}
			for _, l := range lists {
				for _, r := range l.APIResources {
					want = append(want, l.GroupVersion+"/"+r.Kind)
				}
			}
			slices.Sort(want)
			s := Server{Get: func(ctx context.Context, path, accept string) (io.ReadCloser, error) {
				return client.RESTClient().Get().AbsPath(path).SetHeader("Accept", accept).Stream(ctx)
			}}
			got, err := s.APIVersions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
				t.Errorf("\n%s\nAPIVersions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSlowDocuments checks that few documents are requested at the same time, and none after the time limit, the first error or the
// end of the context.
func TestSlowDocuments(t *testing.T) {
	type want struct {
		Requests, AtOnce int64
		Took             time.Duration
		Err              string
	}
	cases := map[string]struct {
		reason string
		// each is the duration of a request, and patience is that of the caller.
		each, patience time.Duration
		err            error
		want           want
	}{
		"Slow": {
			reason: "The time of all requests is limited.", each: 10 * time.Second, patience: time.Hour,
			want: want{Requests: 2 + 4*5, AtOnce: 4, Took: 70 * time.Second, Err: "API server HOST: the cluster has too many APIs: more than can be listed in 1m0s; delete CRDs and APIServices that are not needed"},
		},
		"Failing": {
			reason: "After an error, no more requests are sent.", each: time.Second, patience: time.Hour, err: errors.New("boom"),
			want: want{Requests: 2 + 4, AtOnce: 4, Took: 3 * time.Second, Err: "boom"},
		},
		"Impatient": {
			reason: "Requests end with the context.", each: 10 * time.Second, patience: 25 * time.Second,
			want: want{Requests: 2 + 4, AtOnce: 4, Took: 25 * time.Second, Err: "context deadline exceeded"},
		},
		"Fast": {
			reason: "A server with many groups has enough time.", each: 50 * time.Millisecond, patience: time.Hour,
			want: want{Requests: 2 + 1001, AtOnce: 4, Took: 100*time.Millisecond + 251*50*time.Millisecond},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
				defer cancel()
				var requests, now, most atomic.Int64
				d := with(documents{"/apis": groupsOf(1000)})
				s := Server{Host: "HOST", Get: func(ctx context.Context, path, accept string) (io.ReadCloser, error) {
					requests.Add(1)
					for n := now.Add(1); ; {
						if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
							break
						}
					}
					defer now.Add(-1)
					select {
					case <-time.After(tc.each):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if path != "/api" && path != "/apis" {
						return io.NopCloser(strings.NewReader(`{"kind":"APIResourceList"}`)), tc.err
					}
					return d.get(ctx, path, accept)
				}}
				start := time.Now()
				_, err := s.APIVersions(ctx)
				got := want{Requests: requests.Load(), AtOnce: most.Load(), Took: time.Since(start)}
				if err != nil {
					got.Err = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nAPIVersions(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// groupsOf returns a list of a number of groups.
func groupsOf(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"name":"g%d.example.org","versions":[{"groupVersion":"g%[1]d.example.org/v1","version":"v1"}]}`, i)
	}
	return `{"kind":"APIGroupList","groups":[` + strings.Join(all, ",") + `]}`
}

// FuzzAPIVersions checks that any document takes a limited amount of memory.
func FuzzAPIVersions(f *testing.F) {
	for _, seed := range []string{apps, aggregatedApps, `{"kind":"APIGroupList","groups":[{}]}`, "[[[[", `{"items":[{"versions":[{"resources":[{"subresources":[{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 8}, len(document))()
		s := Server{Get: with(documents{"/apis": document, "/apis/apps/v1": document}).get, Limits: Limits{Kinds: 100, Versions: 100}}
		versions, err := s.APIVersions(t.Context())
		if err == nil && !slices.IsSorted(versions) || len(versions) > 200 {
			t.Errorf("APIVersions(...): got %q", versions)
		}
	})
}

// BenchmarkAPIVersions reads the documents of a cluster with 1,000 kinds in 200 groups.
func BenchmarkAPIVersions(b *testing.B) {
	const groups, kinds = 200, 5
	var aggregated []string
	each := with(documents{"/apis": groupsOf(groups)})
	for g := range groups {
		var short, long []string
		for k := range kinds {
			kind := fmt.Sprintf("Kind%dOf%d", k, g)
			name := strings.ToLower(kind)
			short = append(short, fmt.Sprintf(`{"name":"%ss","singularName":"%[1]s","namespaced":true,"kind":"%s","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],`+
				`"categories":["crossplane"],"storageVersionHash":"tsDyxTC4mP0="},{"name":"%[1]ss/status","singularName":"","namespaced":true,"kind":"%[2]s","verbs":["get","patch","update"]}`, name, kind))
			long = append(long, fmt.Sprintf(`{"resource":"%ss","responseKind":{"group":"g%d.example.org","version":"v1","kind":"%s"},"scope":"Namespaced","singularResource":"%[1]s",`+
				`"verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"categories":["crossplane"],`+
				`"subresources":[{"subresource":"status","responseKind":{"group":"g%[2]d.example.org","version":"v1","kind":"%[3]s"},"verbs":["get","patch","update"]}]}`, name, g, kind))
		}
		each[fmt.Sprintf("/apis/g%d.example.org/v1", g)] = `{"kind":"APIResourceList","apiVersion":"v1","resources":[` + strings.Join(short, ",") + `]}`
		aggregated = append(aggregated, fmt.Sprintf(`{"metadata":{"name":"g%d.example.org","creationTimestamp":null},"versions":[{"version":"v1","resources":[%s],"freshness":"Current"}]}`,
			g, strings.Join(long, ",")))
	}
	all := documents{"/api": aggregatedCore, "/apis": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[` + strings.Join(aggregated, ",") + `]}`}
	for name, d := range map[string]documents{"Aggregated": all, "Each": each} {
		b.Run(name, func(b *testing.B) {
			s, size := Server{Get: d.get}, 0
			for _, document := range d {
				size += len(document.(string))
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if versions, err := s.APIVersions(b.Context()); err != nil || len(versions) < groups*(kinds+1) {
					b.Fatal(len(versions), err)
				}
			}
		})
	}
}
