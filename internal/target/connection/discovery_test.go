// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

const kib, mib = 1 << 10, 1 << 20

// A discoveryServer serves discovery documents, and counts the requests for them.
type discoveryServer struct {
	*httptest.Server

	// aggregated is the response for /apis to clients that accept the aggregated format, or nil if the server doesn't know it.
	aggregated []byte
	// groups is the number of API groups, and document is the document of each of them, in which GROUP is replaced.
	groups   int
	document string
	// unavailable is true if every tenth group is unavailable.
	unavailable bool

	requests, sent atomic.Int64

	// mu guards now, the number of requests that are being served, and the maximum numbers of these requests and of goroutines.
	mu                    sync.Mutex
	now, most, goroutines int
}

func newDiscoveryServer(t *testing.T, s *discoveryServer) *discoveryServer {
	t.Helper()
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// serve responds to a request. It counts how many requests are being served at the same time.
func (s *discoveryServer) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.begin(1)
	defer s.begin(-1)
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	accepted := s.aggregated != nil && strings.HasPrefix(r.Header.Get("Accept"), aggregated)
	var body []byte
	contentType := "application/json"
	switch path := r.URL.Path; {
	case path == "/api" && accepted:
		body, contentType = aggregatedOf(`{"metadata":{},"versions":[{"version":"v1","resources":[]}]}`), aggregated
	case path == "/apis" && accepted:
		body, contentType = s.aggregated, aggregated
	case path == "/api":
		body = []byte(`{"kind":"APIVersions","versions":["v1"]}`)
	case path == "/apis":
		body = []byte(`{"kind":"APIGroupList","groups":[` + listOf(s.groups, func(i int) string {
			return fmt.Sprintf(`{"name":"g%d.example.org","versions":[{"groupVersion":"g%[1]d.example.org/v1","version":"v1"}]}`, i)
		}) + `]}`)
	case path == "/api/v1":
		body = []byte(`{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`)
	case s.unavailable && strings.Contains(path, "0.example.org"):
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	default:
		body = []byte(strings.ReplaceAll(s.document, "GROUP", strings.TrimSuffix(strings.TrimPrefix(path, "/apis/"), "/v1")))
	}
	s.sent.Add(int64(len(body)))
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
}

// begin counts a request that begins, or one that ends.
func (s *discoveryServer) begin(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += n
	s.most, s.goroutines = max(s.most, s.now), max(s.goroutines, runtime.NumGoroutine())
}

// measured returns the largest numbers of requests that were served at the same time, and of goroutines. A request that the client has
// aborted can still be served.
func (s *discoveryServer) measured() (most, goroutines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, s.goroutines
}

// aggregatedOf returns an aggregated discovery document with groups.
func aggregatedOf(groups string) []byte {
	return []byte(`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[` + groups + `]}`)
}

// documentOf returns the document of a group with kinds, followed by padding.
func documentOf(kinds int, name string, padding int) string {
	return `{"kind":"APIResourceList","groupVersion":"GROUP/v1","resources":[` + listOf(kinds, func(i int) string {
		return fmt.Sprintf(`{"name":"k%ds","singularName":"k%[1]d","kind":"K%[1]d%[2]s","namespaced":true,"verbs":["get","list"]}`, i, name)
	}) + `],"padding":"` + strings.Repeat("x", padding) + `"}`
}

// aggregatedKinds returns a group with kinds in the aggregated format, followed by padding.
func aggregatedKinds(group, kinds int, name string, padding int) string {
	return fmt.Sprintf(`{"metadata":{"name":"g%d.example.org"},"versions":[{"version":"v1","resources":[`, group) + listOf(kinds, func(i int) string {
		return fmt.Sprintf(`{"resource":"k%ds","responseKind":{"group":"","version":"","kind":"K%[1]d%[2]s"},"scope":"Namespaced",`+
			`"singularResource":"k%[1]d","verbs":["get","list"],"subresources":[{"subresource":"status","responseKind":{"kind":"K%[1]d%[2]s"}}]}`, i, name)
	}) + `],"freshness":"Current","padding":"` + strings.Repeat("x", padding) + `"}]}`
}

func listOf(n int, item func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

// TestHostileDiscovery checks that the discovery documents of a cluster take a limited number of requests and a limited amount of
// memory, regardless of their content, and that the same is true for a large cluster, whose kinds are found.
func TestHostileDiscovery(t *testing.T) {
	const limit = "API server HOST: the cluster has too many APIs: "
	const advice = "; delete CRDs and APIServices that are not needed"
	type want struct {
		Err      string
		Versions int
		// Requests is the maximum number of requests.
		Requests int64
	}
	cases := map[string]struct {
		reason string
		server *discoveryServer
		want   want
	}{
		"Groups": {
			reason: "No documents are requested if there are too many groups.",
			server: &discoveryServer{groups: 3000, document: documentOf(800, "", 0)},
			want:   want{Err: limit + "more than 2000 groups" + advice, Requests: 2},
		},
		"Kinds": {
			reason: "The kinds of all documents count together.",
			server: &discoveryServer{groups: 1500, document: documentOf(800, "", 0)},
			want:   want{Err: limit + "more than 20000 kinds" + advice, Requests: 40},
		},
		"Bytes": {
			reason: "The bytes of all documents count together.",
			server: &discoveryServer{groups: 1500, document: documentOf(1, "", 100*kib)},
			want:   want{Err: limit + "more than 32 MiB of documents" + advice, Requests: 350},
		},
		"Names": {
			reason: "The names of all kinds count together.",
			server: &discoveryServer{groups: 1500, document: documentOf(5, strings.Repeat("x", 20*kib), 0)},
			want:   want{Err: limit + "more than 4 MiB of names" + advice, Requests: 60},
		},
		"AggregatedKinds": {
			reason: "A document of the largest size is read up to the limit of kinds.",
			server: &discoveryServer{aggregated: aggregatedOf(aggregatedKinds(1, 100_000, strings.Repeat("x", 50), 0))},
			want:   want{Err: limit + "more than 20000 kinds" + advice, Requests: 2},
		},
		"AggregatedGroups": {
			reason: "A document of the largest size is read up to the limit of groups.",
			server: &discoveryServer{aggregated: aggregatedOf(listOf(3000, func(i int) string { return aggregatedKinds(i, 1, "", 10*kib) }))},
			want:   want{Err: limit + "more than 2000 groups" + advice, Requests: 2},
		},
		"AggregatedVersions": {
			reason: "A document of the largest size is read up to the limit of versions.",
			server: &discoveryServer{aggregated: aggregatedOf(`{"metadata":{"name":"a"},"versions":[` + strings.Repeat(`{"version":"v1"},`, 100_000) + `{}]}`)},
			want:   want{Err: limit + "more than 4000 versions" + advice, Requests: 2},
		},
		"AggregatedPadding": {
			reason: "What isn't needed isn't kept.",
			server: &discoveryServer{aggregated: aggregatedOf(aggregatedKinds(1, 1, "", 30*mib))},
			want:   want{Versions: 3, Requests: 2},
		},
		"AggregatedTooLarge": {
			reason: "A single document can exceed the limit of a response.",
			server: &discoveryServer{aggregated: aggregatedOf(aggregatedKinds(1, 1, "", 33*mib))},
			want:   want{Err: limit + "more than 32 MiB of documents" + advice, Requests: 2},
		},
		"Large": {
			reason: "The kinds of a large cluster are found, except those of unavailable groups.",
			server: &discoveryServer{groups: 300, document: documentOf(5, "", kib), unavailable: true},
			want:   want{Versions: 1 + 300 + 270*5, Requests: 303},
		},
		"LargeAggregated": {
			reason: "With the aggregated format, two requests are sufficient.",
			server: &discoveryServer{aggregated: aggregatedOf(listOf(300, func(i int) string { return aggregatedKinds(i, 5, "", kib) }))},
			want:   want{Versions: 1 + 300 + 300*5, Requests: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newDiscoveryServer(t, tc.server)
			c, err := New(&rest.Config{Host: s.URL}, nothing{}, onLoopback())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			heap, allocated := heaptest.Bytes(), fuzztest.Allocated()
			versions, err := c.APIVersions(t.Context())
			allocated = fuzztest.Allocated() - allocated
			heap = heaptest.Bytes() - heap
			got := want{Versions: len(slices.Compact(versions)), Requests: min(s.requests.Load(), tc.want.Requests)}
			if err != nil {
				got.Err = strings.ReplaceAll(err.Error(), s.URL, "HOST")
			}
			most, goroutines := s.measured()
			t.Logf("%d requests, %d at once, %d goroutines, %d KiB received, %d KiB allocated, %d KiB kept", s.requests.Load(), most, goroutines, s.sent.Load()>>10, allocated>>10, heap>>10)
			if s.requests.Load() > tc.want.Requests {
				got.Requests = s.requests.Load()
			}
			if tc.want.Err != "" {
				got.Requests = tc.want.Requests + max(0, s.requests.Load()-tc.want.Requests)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAPIVersions(...): -want, +got:\n%s", tc.reason, diff)
			}
			if most > 4 {
				t.Errorf("%s\nwant at most 4 requests at once, got %d", tc.reason, most)
			}
			if limit := uint64(16*mib + 8*s.sent.Load()); allocated > limit {
				t.Errorf("%s\n%d bytes received, want at most %d bytes allocated, got %d", tc.reason, s.sent.Load(), limit, allocated)
			}
			if heap > 8*mib {
				t.Errorf("%s\nwant at most 8 MiB kept, got %d bytes", tc.reason, heap)
			}
		})
	}
}

// TestHostileVersion checks that the versions of many clusters take a limited amount of memory, regardless of their content.
func TestHostileVersion(t *testing.T) {
	const clusters = 8
	longest := "v1.36.3+" + strings.Repeat("x", mostVersion-len("v1.36.3+"))
	type want struct{ Version, Last, Err string }
	cases := map[string]struct {
		reason, version string
		want            want
	}{
		"Longest": {reason: "A version can name a build.", version: longest, want: want{Version: longest, Last: longest}},
		"None": {
			reason: "A server without a version isn't an API server.",
			want:   want{Err: "cannot get the version of the cluster: the response contains no version"},
		},
		"TooLong": {
			reason: "A long text isn't a version, so it isn't kept.", version: longest + "x",
			want: want{Err: "cannot get the version of the cluster: the version in the response has more than 256 bytes"},
		},
		"Huge": {
			reason: "A huge text isn't kept either.", version: strings.Repeat("x", 4*mib),
			want: want{Err: "cannot get the version of the cluster: the version in the response has more than 256 bytes"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"gitVersion":%q}`, tc.version)
			}))
			defer s.Close()
			heap := heaptest.Bytes()
			for range clusters {
				c, err := New(&rest.Config{Host: s.URL}, nothing{}, onLoopback())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				got := want{}
				if got.Version, err = c.Version(t.Context()); err != nil {
					got.Err = err.Error()
				}
				if got.Last = c.LastVersion(); got != tc.want {
					t.Errorf("\n%s\nVersion(...): want %.300v, got %.300v", tc.reason, tc.want, got)
				}
			}
			if heap = heaptest.Bytes() - heap; heap > 8*mib {
				t.Errorf("%s\nwant at most 8 MiB kept for %d clusters, got %d bytes", tc.reason, clusters, heap)
			}
		})
	}
}
