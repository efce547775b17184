// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

// TestCachedResults checks when a chart is rendered again, and that the results do not share memory.
func TestCachedResults(t *testing.T) {
	pure := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ .Values.message | default "none" }}`)})
	other := chartOf(t, tree{"templates/a.yaml": configMap("b", `{{ .Values.message | default "none" }}`)})
	random := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ randAlphaNum 8 }}`)})
	asking := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ lookup "v1" "Secret" "n" "m" | len }}`)})
	failing := chartOf(t, tree{"templates/a.yaml": `{{ fail "it is wrong" }}`})
	type rendering struct {
		tenant string
		chart  *render.Chart
		o      render.Options
	}
	hello := map[string]any{"message": "hello"}
	private, shared := render.Options{Values: hello}, render.Options{Values: hello, Shared: true}
	cases := map[string]struct {
		reason string
		args   [2]rendering
		want   int
	}{
		"Same":         {reason: "The result is known.", args: [2]rendering{{"a", pure, render.Options{Values: hello}}, {"a", pure, render.Options{Values: hello}}}, want: 1},
		"OtherTenant":  {reason: "Tenants share results.", args: [2]rendering{{"a", pure, shared}, {"b", pure, shared}}, want: 1},
		"Private":      {reason: "A tenant uses its own private results.", args: [2]rendering{{"a", pure, private}, {"a", pure, private}}, want: 1},
		"PrivateOther": {reason: "Tenants do not share private results.", args: [2]rendering{{"a", pure, private}, {"b", pure, private}}, want: 2},
		"PrivateGuess": {reason: "A tenant cannot find out whether the private values of another one are the same.", args: [2]rendering{{"a", pure, private}, {"b", pure, shared}}, want: 2},
		"OtherValues":  {reason: "The values differ.", args: [2]rendering{{"a", pure, render.Options{}}, {"a", pure, render.Options{Values: hello}}}, want: 2},
		"Overrides":    {reason: "The overrides differ.", args: [2]rendering{{"a", pure, render.Options{Values: hello}}, {"a", pure, render.Options{Values: hello, Overrides: hello}}}, want: 2},
		"OtherCluster": {reason: "The capabilities differ.", args: [2]rendering{{"a", pure, render.Options{KubeVersion: "v1.30.0"}}, {"a", pure, render.Options{KubeVersion: "v1.31.0"}}}, want: 2},
		"Revision":     {reason: "The revisions differ.", args: [2]rendering{{"a", pure, render.Options{Revision: 1}}, {"a", pure, render.Options{Revision: 2}}}, want: 2},
		"OtherChart":   {reason: "The charts differ.", args: [2]rendering{{"a", pure, render.Options{}}, {"a", other, render.Options{}}}, want: 2},
		"Random":       {reason: "The result differs each time.", args: [2]rendering{{"a", random, render.Options{}}, {"a", random, render.Options{}}}, want: 2},
		"Lookup":       {reason: "The result depends on the cluster.", args: [2]rendering{{"a", asking, render.Options{}}, {"a", asking, render.Options{}}}, want: 2},
		"Error":        {reason: "Errors are not kept.", args: [2]rendering{{"a", failing, render.Options{}}, {"a", failing, render.Options{}}}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := 0
			p := newPool(t, Options{Observe: func(time.Duration) { got++ }})
			for _, a := range tc.args {
				a.o.ReleaseName = "rel"
				want, wantErr := a.chart.Render(t.Context(), a.o)
				r, err := p.Chart(t.Context(), a.tenant, a.chart, a.o)
				if (err == nil) != (wantErr == nil) {
					t.Fatalf("\n%s\nChart(...): want error %v, got %v", tc.reason, wantErr, err)
				}
				if err != nil || a.chart == random {
					continue
				}
				if diff := cmp.Diff(want.Objects, r.Objects); diff != "" {
					t.Errorf("\n%s\nChart(...): -want, +got:\n%s", tc.reason, diff)
				}
				r.Objects[0].SetName("changed")
			}
			if got != tc.want {
				t.Errorf("\n%s\nwant %d renderings, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestResultIsReadAfterBrokenOne checks that a reader of results can be used again, at the same time as others, after a result was not readable.
func TestResultIsReadAfterBrokenOne(t *testing.T) {
	p := newPool(t, Options{})
	c, o := chartOf(t, tree{"templates/a.yaml": configMap("a", "x")}), render.Options{ReleaseName: "rel", Shared: true}
	want, err := p.Chart(t.Context(), "a", c, o)
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyOf(newChartRequest(c, o), "a", true)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := p.results.Get(key)
	if !ok {
		t.Fatal("want that the result is kept")
	}
	broken := []([]byte){nil, text[:len(text)/2], []byte("not compressed")}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := range 30 {
				if err := p.cached(t.Context(), "a", &exchange{limits: p.options.Limits}, broken[i%len(broken)]); err == nil {
					t.Error("want an error for a result that is not complete")
				}
				got, err := p.Chart(t.Context(), "a", c, o)
				if err != nil {
					t.Error(err)
					return
				}
				if diff := cmp.Diff(want.Objects, got.Objects); diff != "" {
					t.Errorf("-want, +got:\n%s", diff)
				}
			}
		})
	}
	all.Wait()
}

// TestResultsAreBounded checks that results occupy no more memory than the cache allows.
func TestResultsAreBounded(t *testing.T) {
	p := newPool(t, Options{})
	r := newRecorder()
	if err := r.add(kindObject, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := r.store(p.results, resultKey{1}); err != nil {
		t.Fatal(err)
	}
	kept := p.results.Size()
	if kept == 0 || kept > 64<<10 {
		t.Errorf("want a compressed result of at most 64 KiB, got %d bytes", kept)
	}
	r, noise := newRecorder(), make([]byte, maxResult+1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for range 2 {
		if err := r.add(kindObject, noise); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.store(p.results, resultKey{2}); err != nil || r.text.Len() > 0 {
		t.Errorf("want no record of a result that is too large, got %d bytes and error %v", r.text.Len(), err)
	}
	if got := p.results.Size(); got != kept {
		t.Errorf("a result that is too large must not be kept: want %d bytes, got %d", kept, got)
	}
}
