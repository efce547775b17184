// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
)

// TestFairQueueTurns checks how many Manifests of a ProviderConfig get workers in one turn. The Manifests of config a have the names a0, a1,
// and so on.
func TestFairQueueTurns(t *testing.T) {
	all := func(string) bool { return true }
	cases := map[string]struct {
		reason string
		// modules is the number of Manifests of each of the ProviderConfigs a to c.
		modules int
		// before is called after each call of next with the number of calls until then.
		before func(q *fairQueue, calls int)
		// admitted reports whether a ProviderConfig can get a worker.
		admitted func(config string) bool
		want     string
	}{
		"Together": {reason: "The modules of a cluster are processed together.", modules: 3, admitted: all, want: "a0>a1>a2>b0>b1>b2>c0>c1>c2"},
		"Many": {
			reason: "A turn ends after some Manifests.", modules: 6, admitted: all,
			want: "a0>a1>a2>a3>b0>b1>b2>b3>c0>c1>c2>c3>a4>a5>b4>b5>c4>c5",
		},
		"Busy": {
			reason: "Others get workers while a ProviderConfig gets none, which then continues its turn.", modules: 3, want: "a0>b0>a1>a2>b1>b2>c0>c1>c2",
			admitted: func() func(string) bool {
				calls := 0
				return func(config string) bool { calls++; return config != "a" || calls != 2 }
			}(),
		},
		"Waits": {
			reason: "A turn ends early if its Manifests have to wait.", modules: 3, admitted: all, want: "a0>b0>b1>b2>c0>c1>c2>a1>a2",
			before: func(q *fairQueue, calls int) {
				if calls == 1 {
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
				}
			},
		},
		"Resumed": {
			reason: "A turn that ended early is resumed when its Manifest is back, before others start theirs.", modules: 3, admitted: all,
			want: "a0>b0>b1>b2>a0>a1>a2>c0>c1>c2",
			before: func(q *fairQueue, calls int) {
				switch calls {
				case 1:
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
				case 2:
					q.add(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
		"ResumedLong": {
			reason: "A resumed turn ends after as many Manifests as others, and the next one follows those of the others.", modules: 6, admitted: all,
			want: "a0>a0>a1>a2>a3>b0>b1>b2>b3>c0>c1>c2>c3>a4>a5>b4>b5>c4>c5",
			before: func(q *fairQueue, calls int) {
				if calls == 1 {
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.add(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
		"Sibling": {
			reason: "A Manifest that did not wait does not resume the turn.", modules: 2, admitted: all, want: "a0>b0>b1>c0>c1>a1>a9",
			before: func(q *fairQueue, calls int) {
				if calls == 1 {
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.add(types.NamespacedName{Namespace: "n", Name: "a9"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
		"Alone": {
			reason: "A ProviderConfig with a single Manifest resumes its turn too, and only once for each time that it has waited.", modules: 1, admitted: all,
			want: "a0>a0>b0>c0",
			before: func(q *fairQueue, calls int) {
				switch calls {
				case 1:
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.add(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"}, 0)
				case 2:
					q.settle(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
				}
			},
		},
		"Settled": {
			reason: "A Manifest that did not have to wait begins a new turn, after others.", modules: 1, admitted: all, want: "a0>b0>c0>a0",
			before: func(q *fairQueue, calls int) {
				if calls == 1 {
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.settle(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.add(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
		"Again": {
			reason: "A Manifest that has to wait each time does not keep others from their turns.", modules: 1, admitted: all, want: "a0>a0>a0>a0>b0>c0>a0>a0>a0>a0",
			before: func(q *fairQueue, calls int) {
				if calls < 5 || calls > 6 && calls < 10 {
					q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"})
					q.add(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
		"Unknown": {
			reason: "A turn that is over is not ended again.", modules: 1, admitted: all, want: "a0>b0>c0",
			before: func(q *fairQueue, _ int) {
				q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "n", config: "other"})
				q.endTurn(types.NamespacedName{Namespace: "n", Name: "a0"}, place{namespace: "other", config: "a"})
			},
		},
		"Later": {
			reason: "A Manifest that is added during the turn belongs to it.", modules: 2, admitted: all, want: "a0>a1>a9>b0>b1>c0>c1",
			before: func(q *fairQueue, calls int) {
				if calls == 1 {
					q.add(types.NamespacedName{Namespace: "n", Name: "a9"}, place{namespace: "n", config: "a"}, 0)
				}
			},
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			q := newFairQueue()
			for _, config := range []string{"a", "b", "c"} {
				for i := range tc.modules {
					q.add(types.NamespacedName{Namespace: "n", Name: fmt.Sprint(config, i)}, place{namespace: "n", config: config}, 0)
				}
			}
			var got []string
			for {
				nn, ok := q.next(func(at place) bool { return tc.admitted(at.config) })
				if !ok {
					break
				}
				got = append(got, nn.Name)
				if tc.before != nil {
					tc.before(q, len(got))
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ">")); diff != "" {
				t.Errorf("\n%s\nnext(): -want, +got:\n%s", tc.reason, diff)
			}
			if q.active != 0 || len(q.spots) != 0 {
				t.Errorf("\n%s\nwant nothing left, got %d namespaces and %d Manifests", tc.reason, q.active, len(q.spots))
			}
		})
	}
}

// TestFairQueueStarted checks that ProviderConfigs which can't continue their turns don't block others, however many they are.
func TestFairQueueStarted(t *testing.T) {
	const clusters = 5 * maxCandidates
	q := newFairQueue()
	for i := range clusters {
		for j := range 2 {
			q.add(types.NamespacedName{Namespace: "n", Name: fmt.Sprint(i, "-", j)}, place{namespace: "n", config: strconv.Itoa(i)}, 0)
		}
	}
	started := map[string]bool{}
	for range clusters {
		nn, ok := q.next(func(at place) bool { return !started[at.config] })
		if !ok {
			t.Fatalf("want a first Manifest of each ProviderConfig, got %d", len(started))
		}
		config, _, _ := strings.Cut(nn.Name, "-")
		started[config] = true
	}
	if n := len(q.namespaces["n"].level(0).started); n != maxStarted {
		t.Errorf("want %d turns to continue, got %d", maxStarted, n)
	}
}

// TestFairQueueResumed checks that ProviderConfigs whose turns end early and are resumed take bounded space, and get as many workers as others.
func TestFairQueueResumed(t *testing.T) {
	const manifests, rounds = 4 * maxResumable, 30_000
	q, random, got := newFairQueue(), rand.New(rand.NewPCG(1, 2)), map[string]int{}
	at := func(i int) (types.NamespacedName, place) {
		return types.NamespacedName{Namespace: "n", Name: strconv.Itoa(i)}, place{namespace: "n", config: strconv.Itoa(i / 2)}
	}
	for i := range manifests {
		nn, place := at(i)
		q.add(nn, place, 0)
	}
	var away []int
	for round := range rounds {
		if round%50 == 0 {
			checkOrder(t, q.namespaces["n"])
		}
		if len(away) > 0 && random.IntN(2) == 0 || len(away) == manifests {
			k := random.IntN(len(away))
			nn, place := at(away[k])
			away = slices.Delete(away, k, k+1)
			q.add(nn, place, 0)
			continue
		}
		nn, ok := q.next(func(place) bool { return true })
		if !ok {
			continue
		}
		got[nn.Name]++
		i, err := strconv.Atoi(nn.Name)
		if err != nil {
			t.Fatal(err)
		}
		// A quarter of the ProviderConfigs always waits, one never does, and the others sometimes do, with one Manifest or both.
		if _, place := at(i); i%8 < 2 || i%8 > 3 && random.IntN(2) == 0 {
			q.endTurn(nn, place)
		} else {
			q.settle(nn, place)
		}
		away = append(away, i)
	}
	w := q.namespaces["n"]
	l := w.level(0)
	if l.count(false) > maxStarted || l.count(true) > maxResumed || len(w.resumable) > maxResumable {
		t.Errorf("want bounded numbers, got %d started and %d resumable", len(l.started), len(w.resumable))
	}
	if most, least := slices.Max(slices.Collect(maps.Values(got))), slices.Min(slices.Collect(maps.Values(got))); len(got) != manifests || most > 2*(1+maxResumptions)*least {
		t.Errorf("want workers for all %d Manifests, got %d with %d to %d", manifests, len(got), least, most)
	}
}

// checkOrder checks that each ProviderConfig with Manifests is once in the order of its level, or in the middle of its turn, but not both unless it is
// ordered.
func checkOrder(t *testing.T, w *waiting) {
	t.Helper()
	if w == nil {
		return
	}
	l, places := w.level(0), map[string]int{}
	for _, config := range l.order {
		places[config]++
	}
	for _, s := range l.started {
		if s.ordered != (places[s.config] == 1) {
			t.Fatalf("ProviderConfig %s has started, and is %d times in the order; ordered is %t", s.config, places[s.config], s.ordered)
		}
		if !s.ordered {
			places[s.config]++
		}
	}
	for config := range l.queue {
		if places[config] != 1 {
			t.Fatalf("want ProviderConfig %s once, got %d times", config, places[config])
		}
	}
	if len(places) != len(l.queue) {
		t.Fatalf("want %d ProviderConfigs, got %d", len(l.queue), len(places))
	}
}

// An observer is an external client that returns an error from Observe.
type observer struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]

	err error
}

func (o *observer) Connect(context.Context, *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	return o, nil
}

func (o *observer) Observe(context.Context, *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, o.err
}

func (o *observer) Disconnect(context.Context) error { return nil }

// TestLimitedTurn checks which Manifest is woken after the first one in the turn of a ProviderConfig.
func TestLimitedTurn(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   []string
	}{
		"Observed": {reason: "The turn continues.", want: []string{"a0", "a1"}},
		"Failed":   {reason: "The turn continues after an error.", err: errors.New("refused"), want: []string{"a0", "a1"}},
		"Waits": {
			reason: "The other Manifests would wait for the connection too.", err: errors.Wrap(&requeue.QuietError{Err: errors.New("not connected")}, "wrapped"),
			want: []string{"a0", "b0"},
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			var woken []string
			s := New(1, func(nn types.NamespacedName) { woken = append(woken, nn.Name) }, silent)
			first, _ := s.Acquire("n/first", types.NamespacedName{Namespace: "n", Name: "first"})
			for _, name := range []string{"a0", "a1", "b0"} {
				s.Acquire("n/"+name[:1], types.NamespacedName{Namespace: "n", Name: name})
			}
			s.Release(first)
			m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a0"}}
			m.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "a"})
			e, err := Limited[*v1alpha1.Manifest](&observer{err: tc.err}, s).Connect(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Observe(t.Context(), m); !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nObserve(): want error %v, got %v", tc.reason, tc.err, err)
			}
			if err := e.Disconnect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, woken); diff != "" {
				t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
