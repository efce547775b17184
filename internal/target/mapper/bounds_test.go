// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// kindsOf returns the document of a version with a number of kinds, whose names have a number of additional characters.
func kindsOf(gv string, kinds, name int) string {
	all := make([]string, kinds)
	for i := range all {
		all[i] = fmt.Sprintf(`{"name":"k%ds","kind":"K%[1]d%s","namespaced":true}`, i, strings.Repeat("x", name))
	}
	return `{"kind":"APIResourceList","groupVersion":"` + gv + `","resources":[` + strings.Join(all, ",") + `]}`
}

// TestManyKinds checks that the kinds of a hostile cluster take a limited amount of memory, and that a kind that is no longer known is
// discovered again.
func TestManyKinds(t *testing.T) {
	const tooMany = "cannot discover the kinds of g0.example.org/v1: the API version has too many kinds: " +
		"their names exceed 1 MiB; delete unused CRDs"
	type args struct{ versions, kinds, name int }
	type want struct {
		Err string
		// Again is the number of versions that are discovered again.
		Again int
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Usual":    {reason: "The kinds of a large cluster are kept.", args: args{versions: 500, kinds: 5}},
		"Versions": {reason: "The oldest versions are dropped.", args: args{versions: 30, kinds: 4000}, want: want{Again: 30}},
		"Names":    {reason: "The length of names counts.", args: args{versions: 30, kinds: 20, name: 10_000}, want: want{Again: 30}},
		"Kinds":    {reason: "A version can have too many kinds.", args: args{versions: 1, kinds: 10_000}, want: want{Err: tooMany}},
		"Name":     {reason: "A version can have too long names.", args: args{versions: 1, kinds: 1, name: 2 << 20}, want: want{Err: tooMany}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &server{groups: map[string]string{}}
			for i := range tc.args.versions {
				gv := fmt.Sprintf("g%d.example.org/v1", i)
				s.groups["/apis/"+gv] = kindsOf(gv, tc.args.kinds, tc.args.name)
			}
			m, now := New(s.get, Builtin()), time.Now()
			m.now = func() time.Time { now = now.Add(time.Millisecond); return now }
			before, got := heaptest.Bytes(), want{}
			for _, requests := range []*int{new(int), &got.Again} {
				for i := range tc.args.versions {
					gvk := schema.GroupVersionKind{Group: fmt.Sprintf("g%d.example.org", i), Version: "v1", Kind: "K0" + strings.Repeat("x", tc.args.name)}
					found, err := m.Mapping(t.Context(), gvk)
					if err != nil {
						got.Err = err.Error()
					} else if diff := cmp.Diff(cluster.Mapping{Resource: "k0s", Namespaced: true}, found); diff != "" {
						t.Errorf("%s\nMapping(...): -want, +got:\n%s", tc.reason, diff)
					}
				}
				*requests = len(s.requests())
			}
			if got.Err != "" {
				got.Again = 0
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if kept := heaptest.Bytes() - before; kept > 6<<20 {
				t.Errorf("%s\nwant at most 6 MiB kept, got %d bytes", tc.reason, kept)
			}
			runtime.KeepAlive(m)
		})
	}
}

// TestManyLessons checks that what modules install takes a limited amount of memory.
func TestManyLessons(t *testing.T) {
	s := &server{groups: map[string]string{"/apis": groups}}
	m := New(s.get, Builtin())
	before := heaptest.Bytes()
	for i := range 1000 {
		m.AddMapping(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: fmt.Sprint(strings.Repeat("x", 10_000), i)}, cluster.Mapping{Resource: "xs"})
	}
	if kept := heaptest.Bytes() - before; kept > 6<<20 {
		t.Errorf("want at most 6 MiB kept, got %d bytes", kept)
	}
	first := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: strings.Repeat("x", 10_000) + "0"}
	if got, err := m.Mapping(t.Context(), first); err != nil || got != (cluster.Mapping{Resource: "xs"}) {
		t.Errorf("Mapping(...): a lesson must stay, got %v, %v", got, err)
	}
}
