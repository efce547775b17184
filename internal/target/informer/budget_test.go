// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestBudget checks which of several caches must not grow.
func TestBudget(t *testing.T) {
	type args struct {
		// sizes are those of all caches. The first one is about to have size own.
		sizes []int64
		own   int64
	}
	cases := map[string]struct {
		reason string
		args   args
		want   bool
	}{
		"Room":      {reason: "A cache may grow while all caches together fit.", args: args{sizes: []int64{10, 20, 30}, own: 50}},
		"Alone":     {reason: "A single cache may have everything.", args: args{sizes: []int64{99}, own: 100}},
		"TooLarge":  {reason: "A single cache may not have more than everything.", args: args{sizes: []int64{99}, own: 101}, want: true},
		"Largest":   {reason: "The largest cache must not grow beyond the limit of all.", args: args{sizes: []int64{60, 20, 20}, own: 61}, want: true},
		"Small":     {reason: "A small cache may grow, although others have too much.", args: args{sizes: []int64{10, 80, 10}, own: 12}},
		"Part":      {reason: "Each cache may have its equal part.", args: args{sizes: []int64{0, 100, 100}, own: 33}},
		"MorePart":  {reason: "A cache may have more than its part if others have less.", args: args{sizes: []int64{0, 100, 10}, own: 45}},
		"TooMuch":   {reason: "A cache may not have more than what others leave.", args: args{sizes: []int64{0, 100, 10}, own: 46}, want: true},
		"AllBeyond": {reason: "One of several that are equally large must make room.", args: args{sizes: []int64{60, 60}, own: 60}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			used := int64(0)
			b := NewBudget(100, func(bytes int64) { used = bytes })
			caches, sum := make([]*Cache, len(tc.args.sizes)), int64(0)
			for i, size := range tc.args.sizes {
				caches[i] = New(newFake(), mapping, fakeInterpreter{}, WithBudget(b))
				b.set(caches[i], size)
				sum += size
			}
			if got := b.exceeds(caches[0], tc.args.own); got != tc.want {
				t.Errorf("%s: exceeds(...): want %t, got %t", tc.reason, tc.want, got)
			}
			expect(t, "used", sum, used)
			for _, c := range caches {
				c.Close()
				b.set(c, 7)
			}
			expect(t, "used by caches that were closed", int64(0), used)
		})
	}
}

// TestBudgetLeave checks that a cache that changes after it was closed doesn't count.
func TestBudgetLeave(t *testing.T) {
	b, c := NewBudget(100, func(int64) {}), &Cache{}
	b.join(c)
	b.leave(c)
	b.set(c, 5)
	if b.used != 0 || len(b.sizes) != 0 {
		t.Errorf("want nothing in use after the only cache was closed, got %d by %d", b.used, len(b.sizes))
	}
}

// TestBudgetRace changes a cache while it is closed.
func TestBudgetRace(t *testing.T) {
	b := NewBudget(100, func(int64) {})
	for range 1000 {
		c, changing := &Cache{}, sync.WaitGroup{}
		b.join(c)
		changing.Go(func() {
			for i := range int64(10) {
				b.set(c, i)
			}
		})
		b.leave(c)
		changing.Wait()
		if b.used != 0 {
			t.Fatalf("want nothing in use after the only cache was closed, got %d", b.used)
		}
	}
}

// TestManyCaches checks that the caches of all clusters together are limited, that the largest ones aren't watched, and that this
// doesn't affect others.
func TestManyCaches(t *testing.T) {
	const each = overhead + 20
	type want struct {
		Refused []bool
		// Most is true if the caches have never had more than twice the budget.
		Most bool
	}
	cases := map[string]struct {
		reason string
		// objects are the numbers of objects in each cluster, and most is the budget, in objects.
		objects []int
		most    int64
		want    want
	}{
		"Room":     {reason: "All caches fit.", objects: []int{10, 10, 10}, most: 40, want: want{Refused: []bool{false, false, false}, Most: true}},
		"Large":    {reason: "A large cluster is not watched.", objects: []int{5, 100, 5, 5}, most: 40, want: want{Refused: []bool{false, true, false, false}, Most: true}},
		"ManyHost": {reason: "Several large clusters are not watched.", objects: []int{30, 3, 30, 3, 30, 3}, most: 40, want: want{Refused: []bool{false, false, true, false, true, false}, Most: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most, got := int64(0), want{}
				b := NewBudget(tc.most*each, func(bytes int64) { most = max(most, bytes) })
				caches, servers := make([]*Cache, len(tc.objects)), make([]*fake, len(tc.objects))
				for i, n := range tc.objects {
					servers[i] = newFake()
					caches[i] = New(servers[i], mapping, fakeInterpreter{}, WithBudget(b))
					defer caches[i].Close()
					for o := range n {
						servers[i].set(fmt.Sprint("o", o), "one", strconv.Itoa(o))
					}
				}
				for _, c := range caches {
					many := (*cluster.TooManyError)(nil)
					err := track(t, c, secrets)
					if refused := errors.As(err, &many); refused != (err != nil) || refused && !many.Shared {
						t.Errorf("%s: Track: %v", tc.reason, err)
					}
					got.Refused = append(got.Refused, err != nil)
				}
				got.Most = most <= 2*tc.most*each
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
				for i, s := range servers {
					for o := 2; o < tc.objects[i]; o++ {
						s.remove(fmt.Sprint("o", o))
					}
				}
				time.Sleep(2 * deniedPause)
				for _, c := range caches {
					if err := track(t, c, secrets); err != nil {
						t.Errorf("%s: Track of fewer objects: %v", tc.reason, err)
					}
				}
			})
		})
	}
}
