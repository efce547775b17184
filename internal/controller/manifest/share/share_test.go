// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func name(config string, i int) types.NamespacedName {
	return types.NamespacedName{Namespace: config, Name: strconv.Itoa(i)}
}

// silent returns the response time of a cluster before its first response.
func silent(types.NamespacedName) time.Duration { return 0 }

// recordQuick records that the passes of ProviderConfigs are quick.
func recordQuick(s *Shares, configs ...string) {
	for _, config := range configs {
		s.pace.record(place{namespace: config, config: config}, time.Millisecond, time.Millisecond, time.Now())
	}
}

func TestShares(t *testing.T) {
	const workers = 16
	cases := map[string]struct {
		reason string
		// before is the number of passes of config a that request a worker before config b does.
		before int
		a, b   bool
	}{
		"Alone":  {reason: "Half of the workers may be used by one ProviderConfig.", before: workers/2 - 1, a: true, b: true},
		"Half":   {reason: "One ProviderConfig gets no more than half of the workers.", before: workers / 2, b: true},
		"Flood":  {reason: "The limit does not depend on the number of waiting passes.", before: 1000, b: true},
		"Beside": {reason: "Few passes do not delay other ProviderConfigs.", before: 1, a: true, b: true},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			s := New(workers, func(types.NamespacedName) {}, silent)
			recordQuick(s, "a", "b")
			for i := range tc.before {
				s.Acquire("a", name("a", i))
			}
			_, a := s.Acquire("a", name("a", -1))
			_, b := s.Acquire("b", name("b", 0))
			if diff := cmp.Diff([]bool{tc.a, tc.b}, []bool{a, b}); diff != "" {
				t.Errorf("\n%s\nAcquire() of a and b: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A simulation runs passes on a number of workers. Time only passes when no worker is free.
type simulation struct {
	*Shares

	workers int
	clock   time.Time
	// queue contains the Manifests to reconcile, and takes contains the duration of a pass by namespace.
	queue   []types.NamespacedName
	takes   map[string]time.Duration
	running []pass
	timers  []timer
	// seen contains the Manifests with a pass.
	seen map[types.NamespacedName]bool
	// done counts the passes by namespace, and ended is the time since the start at which the last of them ended.
	done  map[string]int
	ended map[string]time.Duration
}

// A timer calls a function at a time.
type timer struct {
	at   time.Time
	call func()
}

type pass struct {
	*Worker

	nn  types.NamespacedName
	end time.Time
}

// simulate returns a simulation in which clusters respond in a quarter of the time of their passes, but not more slowly than responses.
// The response time is known after the first pass over a Manifest.
func simulate(workers int, takes map[string]time.Duration, responses time.Duration) *simulation {
	s := &simulation{workers: (1 + sparePerWorker) * workers, takes: takes, seen: map[types.NamespacedName]bool{}, done: map[string]int{}, ended: map[string]time.Duration{}}
	s.Shares = New(workers, func(nn types.NamespacedName) { s.queue = append(s.queue, nn) }, func(nn types.NamespacedName) time.Duration {
		if !s.seen[nn] {
			return 0
		}
		return min(takes[nn.Namespace]/4, responses)
	})
	s.now = func() time.Time { return s.clock }
	s.later = func(d time.Duration, f func()) { s.timers = append(s.timers, timer{at: s.clock.Add(d), call: f}) }
	return s
}

// run runs passes until none is left, or until stop returns true after a pass. again is called after each pass.
func (s *simulation) run(again func(nn types.NamespacedName, config string) bool) {
	for len(s.queue)+len(s.running) > 0 {
		for len(s.queue) > 0 && len(s.running) < s.workers {
			nn := s.queue[0]
			s.queue = s.queue[1:]
			if w, ok := s.Acquire(configIn(nn), nn); ok {
				s.running = append(s.running, pass{Worker: w, nn: nn, end: s.clock.Add(s.takes[nn.Namespace])})
			}
		}
		slices.SortStableFunc(s.running, func(a, b pass) int { return a.end.Compare(b.end) })
		p := s.running[0]
		if s.fire(p.end) {
			continue
		}
		s.running, s.clock = s.running[1:], p.end
		s.seen[p.nn] = true
		s.Release(p.Worker)
		s.done[p.nn.Namespace]++
		s.ended[p.nn.Namespace] = s.clock.Sub(time.Time{})
		if !again(p.nn, p.at.config) {
			return
		}
	}
}

// fire calls the first function that is due before a time, if there is one.
func (s *simulation) fire(before time.Time) bool {
	slices.SortStableFunc(s.timers, func(a, b timer) int { return a.at.Compare(b.at) })
	if len(s.timers) == 0 || s.timers[0].at.After(before) {
		return false
	}
	next := s.timers[0]
	s.timers, s.clock = s.timers[1:], next.at
	next.call()
	return true
}

// configIn returns the ProviderConfig of a Manifest in a simulation: the part of its name before a dash.
func configIn(nn types.NamespacedName) string {
	config, _, _ := strings.Cut(nn.Name, "-")
	return nn.Namespace + "/" + config
}

// TestSharesTurns simulates a tenant with a thousand Manifests and fifty tenants with one Manifest each, on ten workers. It
// counts how many passes of the first tenant complete before the last of the other tenants has had its turn.
func TestSharesTurns(t *testing.T) {
	const workers, many, others = 10, 1000, 50
	s := simulate(workers, nil, 0)
	for i := range many {
		s.queue = append(s.queue, types.NamespacedName{Namespace: "flood", Name: fmt.Sprint("c-", i)})
	}
	for i := range others {
		s.queue = append(s.queue, types.NamespacedName{Namespace: fmt.Sprint("tenant", i), Name: "c-0"})
	}
	last := 0
	s.run(func(nn types.NamespacedName, _ string) bool {
		if nn.Namespace != "flood" {
			last = s.done["flood"]
		}
		return true
	})
	if s.done["flood"] != many || len(s.done) != others+1 {
		t.Errorf("want a pass over each Manifest, got %d and %d", s.done["flood"], len(s.done)-1)
	}
	if last > 2*others {
		t.Errorf("want the turn of others to come soon, got %d passes of the first tenant before it", last)
	}
	if len(s.used)+len(s.running)+len(s.waiting.spots)+s.waiting.active != 0 {
		t.Errorf("want nothing left: %+v, %+v", s.Shares, s.waiting)
	}
}

// TestSharesSlow simulates tenants with many ProviderConfigs for clusters that respond slowly, whose passes are repeated all the time, and
// another tenant that installs a module in ten passes. The module is created at different times.
func TestSharesSlow(t *testing.T) {
	const slow, passes = 20 * time.Second, 10
	cases := map[string]struct {
		reason  string
		workers int
		// tenants is the number of tenants with slow clusters, and clusters is the number of clusters of each of them.
		tenants, clusters int
		// responses is the maximum average response time of the clusters, whose passes can take long for other reasons.
		responses time.Duration
		// known is true if the other tenant has installed modules before.
		known bool
		// most is the maximum time until the module is installed.
		most time.Duration
	}{
		"Known":           {reason: "One tenant leaves most workers to others.", workers: 10, tenants: 1, clusters: 50, responses: slow, known: true, most: time.Second},
		"New":             {reason: "A tenant about whom nothing is known leaves most workers to others.", workers: 10, tenants: 1, clusters: 50, responses: slow, most: time.Second},
		"KnownOfMany":     {reason: "Many tenants with slow clusters use half of the workers.", workers: 10, tenants: 20, clusters: 20, responses: slow, known: true, most: time.Second},
		"NewOfMany":       {reason: "A new tenant does not wait for many tenants with slow clusters.", workers: 10, tenants: 20, clusters: 20, responses: slow, most: time.Second},
		"Few":             {reason: "Two workers are enough to keep one for others.", workers: 2, tenants: 3, clusters: 5, responses: slow, known: true, most: time.Second},
		"Otherwise":       {reason: "Passes can be slow although the cluster responds quickly.", workers: 10, tenants: 1, clusters: 50, responses: time.Millisecond, known: true, most: time.Second},
		"OtherwiseOfMany": {reason: "The passes of many tenants can be slow although their clusters respond quickly.", workers: 10, tenants: 20, clusters: 20, responses: time.Millisecond, known: true, most: time.Second},
		"NewOtherwise":    {reason: "A new tenant does not wait for many tenants with slow passes.", workers: 10, tenants: 20, clusters: 20, responses: time.Millisecond, most: time.Second},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			for began := 4 * slow; began < 9*slow; began += slow / 4 {
				s := simulate(tc.workers, map[string]time.Duration{"good": 10 * time.Millisecond}, tc.responses)
				if tc.known {
					s.pace.record(place{namespace: "good", config: "good/c"}, time.Millisecond, time.Millisecond, s.clock)
				}
				for i := range tc.tenants {
					s.takes[fmt.Sprint("slow", i)] = slow
					for j := range tc.clusters {
						s.queue = append(s.queue, types.NamespacedName{Namespace: fmt.Sprint("slow", i), Name: strconv.Itoa(j)})
					}
				}
				if took := s.install(passes, began); took > tc.most {
					t.Errorf("\n%s\nwant an install after %s in %s, got %s", tc.reason, began, tc.most, took)
				}
			}
		})
	}
}

// install repeats all passes all the time, and returns how long a module needs for a number of passes. The module is created when the
// first pass ends after some time.
func (s *simulation) install(passes int, after time.Duration) time.Duration {
	module := types.NamespacedName{Namespace: "good", Name: "c-module"}
	began := time.Duration(0)
	s.run(func(nn types.NamespacedName, _ string) bool {
		if began == 0 && s.clock.Sub(time.Time{}) >= after {
			began = s.clock.Sub(time.Time{})
			s.queue = append(s.queue, module)
		}
		if nn != module || s.done["good"] < passes {
			s.queue = append(s.queue, nn)
		}
		return s.done["good"] < passes
	})
	return s.ended["good"] - began
}

// TestSharesForget checks that a deleted Manifest does not take the turn of another Manifest.
func TestSharesForget(t *testing.T) {
	var woken []types.NamespacedName
	s := New(1, func(nn types.NamespacedName) { woken = append(woken, nn) }, silent)
	w, _ := s.Acquire("a", name("a", 0))
	for i := range 40 {
		s.Acquire(fmt.Sprint("gone", i), name(fmt.Sprint("gone", i), 0))
		s.Forget(name(fmt.Sprint("gone", i), 0))
	}
	s.Acquire("a", name("a", 1))
	s.Acquire("a", name("a", 2))
	s.Forget(name("a", 1))
	s.Release(w)
	if diff := cmp.Diff([]types.NamespacedName{name("a", 2)}, woken); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
}

// TestSharesRace acquires and releases workers concurrently. The workers that are kept for Manifests that don't return become free.
func TestSharesRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(8, func(types.NamespacedName) {}, silent)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 200 {
					config := strconv.Itoa(j % 3)
					if w, ok := s.Acquire(config, name(config, i)); ok {
						s.Release(w)
					}
				}
			})
		}
		wg.Wait()
		time.Sleep(100 * turnTime)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.running) != 0 || len(s.used) != 0 || len(s.turns) != 0 {
			t.Errorf("want all workers returned, got %v, %v, %v", s.running, s.used, s.turns)
		}
	})
}

// A connector connects, fails or panics.
type connector struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]

	err    error
	panics bool
}

func (c *connector) Connect(context.Context, *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	if c.panics {
		panic("a defect")
	}
	return c, c.err
}

func (c *connector) Disconnect(context.Context) error { return nil }

func TestLimited(t *testing.T) {
	s := New(1, func(types.NamespacedName) {}, silent)
	mr := func(n string) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: n}}
		m.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "c"})
		return m
	}
	inner := &connector{err: errors.New("no")}
	c := Limited[*v1alpha1.Manifest](inner, s)
	if _, err := c.Connect(t.Context(), mr("a")); !errors.Is(err, inner.err) {
		t.Errorf("want the error of the connector, got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		inner.panics = true
		_, err := c.Connect(t.Context(), mr("a"))
		t.Errorf("want a panic, got %v", err)
	}()
	inner.err, inner.panics = nil, false
	e, err := c.Connect(t.Context(), mr("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t.Context(), mr("b")); !kerrors.IsConflict(err) || !errors.Is(err, errTurn) {
		t.Errorf("want a quiet error while another pass runs, got %v", err)
	}
	if err := e.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t.Context(), mr("b")); err != nil {
		t.Errorf("want the worker that was returned, got %v", err)
	}
}

// TestSharesSuddenly checks that a tenant whose clusters were quick can't use all workers when its passes take long all at once.
func TestSharesSuddenly(t *testing.T) {
	const workers = 10
	clock := time.Now()
	s := New(workers, func(types.NamespacedName) {}, func(types.NamespacedName) time.Duration { return time.Millisecond })
	s.now = func() time.Time { return clock }
	acquired := 0
	for i := range 50 {
		if _, ok := s.Acquire(fmt.Sprint("config", i), types.NamespacedName{Namespace: "hostile", Name: strconv.Itoa(i)}); ok {
			acquired++
		}
	}
	if acquired != 8 {
		t.Errorf("want a quarter of the workers to be left, got %d in use", acquired)
	}
	clock = clock.Add(slowPass)
	if _, ok := s.Acquire("other", name("other", 0)); !ok {
		t.Error("want a worker for another tenant")
	}
}

// TestFairQueueIsBounded checks that Manifests that no longer wait don't stay in a queue.
func TestFairQueueIsBounded(t *testing.T) {
	queue, at := newFairQueue(), place{namespace: "n", config: "c"}
	for i := range 10_000 {
		nn := types.NamespacedName{Namespace: "n", Name: strconv.Itoa(i)}
		queue.add(nn, at, 0)
		if i > 10 {
			queue.drop(nn)
		}
	}
	if n := len(queue.namespaces["n"].level(0).queue["c"]); n > 100 {
		t.Errorf("want a queue of the 11 Manifests that wait and some others, got %d", n)
	}
	for i := range 11 {
		if nn, ok := queue.next(func(place) bool { return true }); !ok || nn.Name != strconv.Itoa(i) {
			t.Errorf("want Manifest %d, got %s, %t", i, nn, ok)
		}
	}
}
