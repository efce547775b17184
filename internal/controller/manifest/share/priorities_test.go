// SPDX-License-Identifier: Apache-2.0

package share

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestFairQueuePriorities checks in which order the Manifests of a namespace get workers.
func TestFairQueuePriorities(t *testing.T) {
	type manifest struct {
		name, config string
		priority     int
	}
	many := func(name string, n, priority int) (out []manifest) {
		for i := range n {
			out = append(out, manifest{name: fmt.Sprint(name, i), config: fmt.Sprint("config", i), priority: priority})
		}
		return out
	}
	cases := map[string]struct {
		reason string
		add    []manifest
		want   []string
	}{
		"User":    {reason: "A user does not wait for a fleet.", add: append(many("m", 100, -100), manifest{"edited", "config", 0}), want: []string{"edited", "m0", "m1"}},
		"Raised":  {reason: "Nor for another Manifest in the same cluster.", add: append(many("m", 100, -100), manifest{"m7", "config7", 0}), want: []string{"m7", "m0", "m1"}},
		"Lowered": {reason: "A Manifest keeps its priority.", add: append(many("m", 2, 0), manifest{"m1", "config1", -100}), want: []string{"m0", "m1"}},
		"Turns": {
			reason: "Each eighth turn belongs to the lowest priority.", add: append(many("poll", 2, -200), many("m", 20, 0)...),
			want: []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "poll0", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "poll1", "m14"},
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			q := newFairQueue()
			for _, m := range tc.add {
				q.add(types.NamespacedName{Namespace: "n", Name: m.name}, place{namespace: "n", config: m.config}, m.priority)
			}
			var got []string
			for range tc.want {
				nn, _ := q.next(func(place) bool { return true })
				got = append(got, nn.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nnext(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSharesPriorities checks that the Manifest with the highest priority is woken first, and that namespaces still take turns.
func TestSharesPriorities(t *testing.T) {
	var woken []string
	s := New(1, func(nn types.NamespacedName) { woken = append(woken, nn.String()) }, silent)
	s.WithPriorities(func(nn types.NamespacedName) int {
		if strings.HasPrefix(nn.Name, "edited") {
			return 0
		}
		return -100
	})
	w, _ := s.Acquire("c", types.NamespacedName{Namespace: "n", Name: "first"})
	for _, nn := range []types.NamespacedName{
		{Namespace: "n", Name: "a"}, {Namespace: "n", Name: "edited-a"}, {Namespace: "n", Name: "edited-b"}, {Namespace: "other", Name: "b"},
	} {
		if _, ok := s.Acquire(nn.Namespace+nn.Name, nn); ok {
			t.Fatalf("%s gets a worker, but there is only one", nn)
		}
	}
	for range 4 {
		s.Release(w)
		last := woken[len(woken)-1]
		namespace, name, _ := strings.Cut(last, "/")
		var ok bool
		if w, ok = s.Acquire(namespace+name, types.NamespacedName{Namespace: namespace, Name: name}); !ok {
			t.Fatalf("%s gets no worker after it was woken", last)
		}
	}
	if diff := cmp.Diff([]string{"n/edited-a", "other/b", "n/edited-b", "n/a"}, woken); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
}
