// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// graph pushes components that reference each other, and returns the first one. Each of them is specified by its name and the
// names that it references.
func graph(tb testing.TB, r *fakeRegistry, components ...[]string) *ocm.Descriptor {
	tb.Helper()
	var root *ocm.Descriptor
	for i, c := range components {
		var references []ocm.Reference
		for j, name := range c[1:] {
			references = append(references, reference(fmt.Sprintf("ref%d", j), "a.io/m/"+name))
		}
		d := component(tb, "a.io/m/"+c[0], nil, references)
		r.push(tb, here(), d)
		if i == 0 {
			root = d
		}
	}
	return root
}

func chain(n int) [][]string {
	var out [][]string
	for i := range n {
		out = append(out, []string{fmt.Sprintf("c%d", i), fmt.Sprintf("c%d", i+1)})
	}
	return append(out, []string{fmt.Sprintf("c%d", n)})
}

func fan(n int) [][]string {
	root := []string{"root"}
	out := [][]string{nil}
	for i := range n {
		name := fmt.Sprintf("c%d", i)
		root = append(root, name)
		out = append(out, []string{name})
	}
	out[0] = root
	return out
}

func TestCollect(t *testing.T) {
	cases := map[string]struct {
		reason  string
		graph   [][]string
		want    string
		n       int
		invalid bool
		err     string
	}{
		"Alone":   {reason: "A module mostly references nothing.", graph: [][]string{{"root"}}, want: "root", n: 1},
		"Diamond": {reason: "Each component is there once.", graph: [][]string{{"root", "x", "y"}, {"x", "z"}, {"y", "z"}, {"z"}}, want: "root x z y", n: 4},
		"Self":    {reason: "A component must not reference itself.", graph: [][]string{{"root", "root"}}, invalid: true, err: "references form a cycle: a.io/m/root:1.0.0 -> a.io/m/root:1.0.0"},
		"Cycle":   {reason: "Components must not refer to each other in a cycle.", graph: [][]string{{"root", "x"}, {"x", "y"}, {"y", "x"}}, invalid: true, err: "a.io/m/root:1.0.0 -> a.io/m/x:1.0.0 -> a.io/m/y:1.0.0 -> a.io/m/x:1.0.0"},
		"Deep":    {reason: "Eight references in a row are allowed.", graph: chain(8), n: 9},
		"TooDeep": {reason: "Nine levels exceed the limit.", graph: chain(9), invalid: true, err: "nested more than 8 levels deep"},
		"Wide":    {reason: "64 components are allowed.", graph: fan(63), n: 64},
		"TooWide": {reason: "65 components exceed the limit.", graph: fan(64), invalid: true, err: "more than 64 components"},
		"Missing": {reason: "The reference is named.", graph: [][]string{{"root", "x"}}, err: `cannot collect the components that component a.io/m/root:1.0.0 references: reference "ref0" of component a.io/m/root:1.0.0: cannot fetch component "a.io/m/x" "1.0.0": no manifest`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRegistry()
			root := graph(t, r, tc.graph...)
			found, err := Collect(t.Context(), r, here(), root)
			var invalid *ocm.InvalidError
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) || errors.As(err, &invalid) != tc.invalid {
				t.Fatalf("\n%s\nCollect(...): error %q does not contain %q, or is an InvalidError: %t", tc.reason, text(err), tc.err, !tc.invalid)
			}
			var names []string
			for _, d := range found {
				names = append(names, strings.TrimPrefix(d.Name(), "a.io/m/"))
			}
			if len(found) != tc.n || tc.want != "" && cmp.Diff(tc.want, strings.Join(names, " ")) != "" {
				t.Errorf("\n%s\nCollect(...): got %d: %v, want %d: %s", tc.reason, len(found), names, tc.n, tc.want)
			}
		})
	}
}

// TestCollectSize checks that many large descriptors are not in memory at the same time.
func TestCollectSize(t *testing.T) {
	r := newRegistry()
	var references []ocm.Reference
	for i := range 5 {
		name := fmt.Sprintf("a.io/m/c%d", i)
		references = append(references, reference(fmt.Sprintf("ref%d", i), name))
		r.push(t, here(), padded(t, component(t, name, nil, nil), ocm.MaxDescriptor-1000))
	}
	_, err := Collect(t.Context(), r, here(), component(t, "a.io/m/root", nil, references))
	var invalid *ocm.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(text(err), "the total size of the descriptors exceeds the limit of 16777216 bytes") {
		t.Errorf("Collect(...): error %q", text(err))
	}
}

// TestConcurrent checks, with the race detector, that a descriptor can be shared.
func TestConcurrent(t *testing.T) {
	r := newRegistry()
	root := graph(t, r, []string{"root", "x"}, []string{"x"})
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			if _, _, _, err := Encode(root, nil); err != nil {
				t.Error(err)
			}
			if _, err := Collect(t.Context(), &fakeRegistry{manifests: r.manifests, blobs: r.blobs}, here(), root); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
}
