// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

// A proxy forwards requests to an API server, and counts them.
type proxy struct {
	*httptest.Server

	mu    sync.Mutex
	calls map[string]int
}

// newProxy starts a proxy that sends requests with the identity of a config.
func newProxy(c *rest.Config) (*proxy, error) {
	to, err := forward.To(c)
	if err != nil {
		return nil, err
	}
	p := &proxy{calls: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.count(r)
		to.ServeHTTP(w, r)
	}))
	return p, nil
}

func (p *proxy) count(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[callOf(r)]++
}

// snapshot returns the number of requests by call.
func (p *proxy) snapshot() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.calls)
}

// callOf returns a verb and a resource with its subresource, such as "PUT manifests/status". The verb of a watch is WATCH, and that of
// an access review is REVIEW.
func callOf(r *http.Request) string {
	verb := r.Method
	if strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/") {
		verb = "REVIEW"
	}
	if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
		verb = "WATCH"
	}
	// A path is /api/v1/…, or /apis/group/version/…, with namespaces/NAME before the resource of a namespace.
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if skip == 0 || len(parts) <= skip {
		return verb + " " + r.URL.Path
	}
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	if len(parts) > 2 {
		return verb + " " + parts[0] + "/" + parts[2]
	}
	return verb + " " + parts[0]
}

// since returns the calls that were sent after an earlier snapshot.
func since(before, after map[string]int) map[string]int {
	out := map[string]int{}
	for call, n := range after {
		if n -= before[call]; n > 0 {
			out[call] = n
		}
	}
	return out
}

// sum returns the number of calls, without watches.
func sum(calls map[string]int) int {
	total := 0
	for call, n := range calls {
		if !strings.HasPrefix(call, "WATCH ") && !strings.HasPrefix(call, "watch ") {
			total += n
		}
	}
	return total
}

// writes returns the number of calls that change objects.
func writes(calls map[string]int) int {
	total := 0
	for call, n := range calls {
		verb, _, _ := strings.Cut(call, " ")
		if slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE", "create", "update", "patch", "apply", "delete"}, verb) {
			total += n
		}
	}
	return total
}

// table returns a line for each call.
func table(calls map[string]int) string {
	var out strings.Builder
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(&out, "%4d %s\n", calls[call], call)
	}
	return out.String()
}
