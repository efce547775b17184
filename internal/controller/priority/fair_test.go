// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestObserve checks which waits a queue observes.
func TestObserve(t *testing.T) {
	type want struct {
		Controller, Priority string
		Waited               time.Duration
	}
	cases := map[string]struct {
		reason string
		add    func(q Queue)
		want   []want
	}{
		"User":    {"An item waits from when it is added.", func(q Queue) { q.Add(request("a")) }, []want{{"c", "User", time.Minute}}},
		"Rollout": {"An item with low priority waits from when it is added.", func(q Queue) { With(Rollout, q).Add(request("a")) }, []want{{"c", "Rollout", time.Minute}}},
		"Delayed": {"A delay does not count.", func(q Queue) { q.AddAfter(request("a"), time.Nanosecond) }, []want{{"c", "User", time.Minute - 1}}},
		"Again": {"An item that is added again waits from the first time.", func(q Queue) {
			With(Rollout, q).Add(request("a"))
			q.(*fair).now = func() time.Time { return time.Unix(30, 0) }
			q.Add(request("a"))
		}, []want{{"c", "User", time.Minute}}},
		"Sooner": {"An item that is due earlier than before waits from then.", func(q Queue) {
			q.AddAfter(request("a"), time.Hour)
			q.Add(request("a"))
		}, []want{{"c", "User", time.Minute}}},
		"RateLimited": {"A retry waits intentionally.", func(q Queue) { q.AddRateLimited(request("a")) }, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []want
			q := NewQueue(func(controller, priority string, waited time.Duration) {
				got = append(got, want{controller, priority, waited})
			}, nil, nil)("c", atOnce{})
			defer q.ShutDown()
			f, _ := q.(*fair)
			f.now = func() time.Time { return time.Unix(0, 0) }
			tc.add(q)
			f.now = func() time.Time { return time.Unix(60, 0) }
			if item, _ := q.Get(); item != request("a") || len(f.waits.of)+len(f.waits.order) != 0 {
				t.Errorf("\n%s\nGet(): got %v, remembered %v", tc.reason, item, f.waits.of)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nobserved: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFairIsPriorityQueue checks that a controller recognizes the queue, because it would lose the priorities otherwise.
func TestFairIsPriorityQueue(t *testing.T) {
	q := NewQueue(func(string, string, time.Duration) {}, nil, nil)("p", atOnce{})
	defer q.ShutDown()
	if _, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); !ok {
		t.Error("NewQueue(...): want a priority queue")
	}
}

// TestFair checks in which order items leave a queue in which more items of a high priority arrive than leave it.
func TestFair(t *testing.T) {
	cases := map[string]struct {
		reason string
		add    func(q Queue)
		want   map[string]int // The last turn at which an item leaves the queue.
	}{
		"Waits": {
			reason: "Each eighth turn belongs to the item that waits longest.",
			add: func(q Queue) {
				With(Resync, q).Add(request("poll"))
				With(Rollout, q).Add(request("rollout"))
				With(Install, q).Add(request("install"))
			},
			want: map[string]int{"poll": share, "rollout": 2 * share, "install": 3 * share},
		},
		"Retried": {
			reason: "An item that failed waits, too.", add: func(q Queue) { With(Rollout, q).AddRateLimited(request("retry")) },
			want: map[string]int{"retry": share},
		},
		"Later": {reason: "An item is not due before the end of its delay.", add: func(q Queue) { With(Resync, q).AddAfter(request("poll"), time.Hour) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := NewQueue(func(string, string, time.Duration) {}, nil, nil)("c", atOnce{})
			defer q.ShutDown()
			f, _ := q.(*fair)
			now := time.Now()
			f.now = func() time.Time {
				now = now.Add(time.Millisecond)
				return now
			}
			tc.add(q)
			for f.Len() < len(tc.want) {
				time.Sleep(time.Millisecond) // The queue provides no event to wait for.
			}
			got := map[string]int{}
			for turn := 1; turn <= 4*share; turn++ {
				// Users queue more than there are turns, after what is queued already.
				for i := range 2 {
					q.Add(request(fmt.Sprintf("user-%d-%d", turn, i)))
				}
				item, priority, _ := f.GetWithPriority()
				q.Done(item)
				if strings.HasPrefix(item.Name, "user") {
					if priority != User {
						t.Errorf("\n%s\n%s leaves the queue with priority %d", tc.reason, item.Name, priority)
					}
					continue
				}
				got[item.Name] = turn
				if priority >= User {
					t.Errorf("\n%s\n%s leaves the queue with priority %d, not with its own", tc.reason, item.Name, priority)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nturns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// slow is a simple implementation of waits.
type slow map[reconcile.Request]wait

func (s slow) add(w wait) {
	if before, ok := s[w.item]; ok {
		w.priority = max(w.priority, before.priority)
		if before.due.Before(w.due) {
			w.due = before.due
		}
	}
	s[w.item] = w
}

func (s slow) remove(item reconcile.Request) *wait {
	w, ok := s[item]
	delete(s, item)
	if !ok {
		return nil
	}
	return &w
}

func (s slow) first(now time.Time) *wait {
	var first *wait
	for _, w := range s {
		if !w.due.After(now) && (first == nil || w.due.Before(first.due)) {
			first = &w
		}
	}
	return first
}

// TestWaits compares the waits of items with a simple implementation, for random calls.
func TestWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	got, want := waits{of: map[reconcile.Request]*wait{}}, slow{}
	same := func(a, b *wait) bool { return a == nil && b == nil || a != nil && b != nil && a.due.Equal(b.due) }
	for range 10_000 {
		w := wait{item: request(strconv.Itoa(r.IntN(20))), due: time.Unix(r.Int64N(1_000_000), 0), priority: r.IntN(5)}
		if r.IntN(3) != 0 {
			got.add(w)
			want.add(w)
		} else if a, b := got.remove(w.item), want.remove(w.item); !same(a, b) || a != nil && a.priority != b.priority {
			t.Fatalf("remove(%v): want %v, got %v", w.item, b, a)
		}
		now := time.Unix(r.Int64N(1_000_000), 0)
		if a, b := got.first(now), want.first(now); !same(a, b) {
			t.Fatalf("first(%v): want %v, got %v", now, b, a)
		}
	}
}

// TestRunning checks when the priority of an item is known.
func TestRunning(t *testing.T) {
	running := &Running{}
	q := NewQueue(func(string, string, time.Duration) {}, running, nil)("r", atOnce{})
	defer q.ShutDown()
	With(Rollout, q).Add(request("a"))
	item, _ := q.Get()
	if got := running.Of(item.NamespacedName); got != Rollout {
		t.Errorf("Of(an item that is being reconciled): want %d, got %d", Rollout, got)
	}
	q.Done(item)
	if got := running.Of(item.NamespacedName); got != User || len(running.of) != 0 {
		t.Errorf("Of(an item that is done): want %d, got %d, and %d are left", User, got, len(running.of))
	}
}
