// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Ways to reach an API server.
const (
	// viaREST means that a package sends requests with the REST client of a cluster.Cluster.
	viaREST = "the REST client of a cluster"
	// viaClient means that a package creates or uses a client of client-go.
	viaClient = "a client of client-go"
	// viaRuntime means that a package creates a client of controller-runtime.
	viaRuntime = "a client of controller-runtime"
)

// senders returns the packages that may reach API servers, by the way that they use. All writes to a target cluster go through
// the first package.
func senders() map[string][]string {
	return map[string][]string{
		viaREST: {"pkg/manifest/internal/ssa"},
		viaClient: {
			// The connection to a target creates the clients: the REST client of the engine, and the clients of the watches.
			"internal/target/connection",
			// The function lookup of charts reads objects.
			"internal/render/templates",
			// It reads discovery documents. Only kymactl and cmd/provider pass it a config.
			"internal/notfound",
			// The command line reads the version of the control plane.
			"internal/cli/version",
			// The fake API server for tests.
			"pkg/manifest/internal/fakeapi",
		},
		// These are clients of the control plane. The controllers get theirs from the manager.
		viaRuntime: {"cmd/provider", "internal/cli/command"},
	}
}

// makers returns the functions of libraries that create a client, by the path of their package. For an empty list, each use of
// the package counts.
func makers() map[string][]string {
	return map[string][]string{
		"k8s.io/client-go/dynamic":    nil,
		"k8s.io/client-go/metadata":   nil,
		"k8s.io/client-go/discovery":  nil,
		"k8s.io/client-go/kubernetes": nil,
		"k8s.io/client-go/rest": {
			"HTTPClientFor", "NewRESTClient", "RESTClientFor", "RESTClientForConfigAndClient", "TransportFor", "UnversionedRESTClientFor",
			"UnversionedRESTClientForConfigAndClient",
		},
		"sigs.k8s.io/controller-runtime":             {"NewManager"},
		"sigs.k8s.io/controller-runtime/pkg/client":  {"New", "NewWithWatch"},
		"sigs.k8s.io/controller-runtime/pkg/cluster": {"New"},
		"sigs.k8s.io/controller-runtime/pkg/manager": {"New"},
	}
}

// waysOf returns the ways to reach an API server that a file uses, sorted.
func waysOf(parsed *ast.File) []string {
	found := map[string]bool{}
	imported := importsByName(parsed)
	for _, p := range imported {
		if only, ok := makers()[p]; ok && only == nil {
			found[viaClient] = true
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "REST" {
				found[viaREST] = true
			}
		}
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && slices.Contains(makers()[imported[x.Name]], s.Sel.Name) {
			way := viaRuntime
			if below(imported[x.Name], "k8s.io/client-go") {
				way = viaClient
			}
			found[way] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// importsByName returns the paths that a file imports, by their names in the file.
func importsByName(parsed *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range parsed.Imports {
		p := strings.Trim(i.Path.Value, `"`)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = p
	}
	return out
}

// TestSenders checks that only few packages reach API servers, and that one of them sends all requests of the engine.
func TestSenders(t *testing.T) {
	used := map[string]map[string]bool{viaREST: {}, viaClient: {}, viaRuntime: {}}
	for _, p := range packages(t) {
		if belowAny(p.path(), []string{"test", "cluster", "hack", "examples"}) {
			continue
		}
		for name, parsed := range sources(t, p) {
			for _, way := range waysOf(parsed) {
				used[way][p.path()] = true
				if !slices.Contains(senders()[way], p.path()) {
					t.Errorf("%s/%s uses %s: only %s may", p.path(), name, way, strings.Join(senders()[way], ", "))
				}
			}
		}
	}
	for way, all := range senders() {
		for _, s := range all {
			if !used[way][s] {
				t.Errorf("%s does not use %s: take it out of senders", s, way)
			}
		}
	}
}

// TestWaysOf checks that each way to reach an API server is found.
func TestWaysOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   []string
	}{
		"None":     {reason: "A config is not a client.", source: `import "k8s.io/client-go/rest"; var c rest.Config`},
		"REST":     {reason: "The client of a cluster sends a request.", source: `func f(c Cluster) { c.REST().Get() }`, want: []string{viaREST}},
		"Field":    {reason: "A field of that name is something else.", source: `func f(o Options) any { return o.REST }`},
		"Dynamic":  {reason: "A dynamic client is reported, wherever it was created.", source: `import d "k8s.io/client-go/dynamic"; var c d.Interface`, want: []string{viaClient}},
		"Typed":    {reason: "A typed client is reported.", source: `import "k8s.io/client-go/kubernetes"; var c kubernetes.Interface`, want: []string{viaClient}},
		"Scheme":   {reason: "The scheme of a typed client is not reported.", source: `import "k8s.io/client-go/kubernetes/scheme"; var c = scheme.Scheme`},
		"HTTP":     {reason: "An HTTP client with the credentials of a config can send anything.", source: `import "k8s.io/client-go/rest"; var c, _ = rest.HTTPClientFor(nil)`, want: []string{viaClient}},
		"Made":     {reason: "The creation of a client of controller-runtime is reported.", source: `import "sigs.k8s.io/controller-runtime/pkg/client"; var c, _ = client.New(nil)`, want: []string{viaRuntime}},
		"Given":    {reason: "A client that a controller receives is not reported.", source: `import "sigs.k8s.io/controller-runtime/pkg/client"; var c client.Client`},
		"Manager":  {reason: "The creation of a manager, which has a client, is reported.", source: `import ctrl "sigs.k8s.io/controller-runtime"; var c, _ = ctrl.NewManager(nil)`, want: []string{viaRuntime}},
		"Namesake": {reason: "Another package may have a function of that name.", source: `import "example.org/client"; var c = client.New(nil)`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := waysOf(parsed)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwaysOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
