// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dialing returns the identifiers that dial without netguard, by the path of their package. The linter forbids most of them
// too.
func dialing() map[string][]string {
	return map[string][]string{
		"net":        {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"},
		"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
		"net/http":   {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
		// These make a transport of their own, unless the config has one.
		"k8s.io/client-go/rest": {"HTTPClientFor", "TransportFor", "RESTClientFor", "UnversionedRESTClientFor"},
	}
}

// incomplete contains the types whose zero value dials without netguard, and the field that prevents it.
func incomplete() map[string]string {
	return map[string]string{"net/http.Client": "Transport", "net/http.Transport": "DialContext"}
}

// dialers returns the means by which a file connects to other machines without netguard, sorted: an identifier in dialing, an
// HTTP client without a transport, or a transport without a dialer.
func dialers(parsed *ast.File) []string {
	var found []string
	imported := importsByName(parsed)
	name := func(e ast.Expr) string {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || imported[x.Name] == "" {
			return ""
		}
		return imported[x.Name] + "." + s.Sel.Name
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if full := name(n); full != "" {
				dot := strings.LastIndex(full, ".")
				if slices.Contains(dialing()[full[:dot]], full[dot+1:]) {
					found = append(found, full)
				}
			}
		case *ast.CompositeLit:
			if needs := incomplete()[name(n.Type)]; needs != "" && !sets(n, needs) {
				found = append(found, name(n.Type)+" without "+needs)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 && incomplete()[name(n.Args[0])] != "" {
				found = append(found, name(n.Args[0])+" without "+incomplete()[name(n.Args[0])])
			}
		case *ast.ValueSpec:
			if len(n.Values) == 0 && incomplete()[name(n.Type)] != "" {
				found = append(found, name(n.Type)+" without "+incomplete()[name(n.Type)])
			}
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// sets reports whether a composite literal sets a field.
func sets(l *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(l.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		k, ok := kv.Key.(*ast.Ident)
		return ok && k.Name == field
	})
}

// TestDialers checks that only netguard opens connections to other machines.
func TestDialers(t *testing.T) {
	used := false
	for _, p := range packages(t) {
		if belowAny(p.path(), []string{"test", "cluster", "hack", "examples"}) {
			continue
		}
		for name, parsed := range sources(t, p) {
			found := dialers(parsed)
			if p.path() == "internal/render/templates" {
				// The config of lookup contains the transport of a connection.
				found = slices.DeleteFunc(found, func(s string) bool { return s == "k8s.io/client-go/rest.HTTPClientFor" })
			}
			if p.path() == "internal/netguard" {
				used = used || len(found) > 0
				continue
			}
			if len(found) > 0 {
				t.Errorf("%s/%s uses %s: only internal/netguard dials", p.path(), name, strings.Join(found, ", "))
			}
		}
	}
	if !used {
		t.Error("internal/netguard does not dial")
	}
}

// TestFindDialers checks that each way to dial is found.
func TestFindDialers(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   []string
	}{
		"Dialer":    {reason: "A net.Dialer opens connections.", source: `import "net"; var d = net.Dialer{}`, want: []string{"net.Dialer"}},
		"Renamed":   {reason: "The name of an import does not count.", source: `import n "net"; var _, err = n.Dial("tcp", "x:1")`, want: []string{"net.Dial"}},
		"Default":   {reason: "The default client has a dialer of its own.", source: `import "net/http"; var c = http.DefaultClient`, want: []string{"net/http.DefaultClient"}},
		"Get":       {reason: "The function http.Get uses the default client.", source: `import "net/http"; var _, err = http.Get("x")`, want: []string{"net/http.Get"}},
		"Client":    {reason: "A client without a transport uses the default one.", source: `import "net/http"; var c = &http.Client{Timeout: 1}`, want: []string{"net/http.Client without Transport"}},
		"Zero":      {reason: "A client without a transport opens connections.", source: `import "net/http"; var c http.Client = http.Client{}`, want: []string{"net/http.Client without Transport"}},
		"Transport": {reason: "A transport without a dialer opens connections.", source: `import "net/http"; var c = &http.Transport{}`, want: []string{"net/http.Transport without DialContext"}},
		"TLS":       {reason: "TLS can dial, too.", source: `import "crypto/tls"; var _, err = tls.Dial("tcp", "x:1", nil)`, want: []string{"crypto/tls.Dial"}},
		"New":       {reason: "A new transport opens connections.", source: `import "net/http"; var c = new(http.Transport)`, want: []string{"net/http.Transport without DialContext"}},
		"Declared":  {reason: "A declared client opens connections.", source: `import "net/http"; var c http.Client`, want: []string{"net/http.Client without Transport"}},
		"Pointer":   {reason: "A nil pointer to a client opens no connections.", source: `import "net/http"; var c *http.Client`},
		"REST":      {reason: "A client of Kubernetes makes a transport.", source: `import "k8s.io/client-go/rest"; var c, err = rest.HTTPClientFor(x)`, want: []string{"k8s.io/client-go/rest.HTTPClientFor"}},
		"Good":      {reason: "A client that uses the guard is allowed.", source: `import "net/http"; var c = &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}`},
		"Listen":    {reason: "A server does not dial.", source: `import "net"; var _, err = net.Listen("tcp", ":0")`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, dialers(parsed)); diff != "" {
				t.Errorf("%s\ndialers(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
