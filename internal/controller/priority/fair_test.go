// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestTimed checks which waits a queue observes.
func TestTimed(t *testing.T) {
	type want struct {
		Controller, Priority string
		Waited               time.Duration
	}
	cases := map[string]struct {
		reason string
		add    func(q Queue)
		want   []want
	}{
		"High":    {"An item waits from when it is added.", func(q Queue) { q.Add(request("a")) }, []want{{"c", "High", time.Minute}}},
		"Low":     {"An item with low priority waits from when it is added.", func(q Queue) { Low(q).Add(request("a")) }, []want{{"c", "Low", time.Minute}}},
		"Delayed": {"A delay does not count.", func(q Queue) { q.AddAfter(request("a"), time.Nanosecond) }, []want{{"c", "High", time.Minute - 1}}},
		"Again": {"An item that is added again waits from the first time.", func(q Queue) {
			Low(q).Add(request("a"))
			q.(*timed).now = func() time.Time { return time.Unix(30, 0) }
			q.Add(request("a"))
		}, []want{{"c", "High", time.Minute}}},
		"Sooner": {"An item that is due earlier than before waits from then.", func(q Queue) {
			q.AddAfter(request("a"), time.Hour)
			q.Add(request("a"))
		}, []want{{"c", "High", time.Minute}}},
		"RateLimited": {"A retry waits intentionally.", func(q Queue) { q.AddRateLimited(request("a")) }, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []want
			q := NewQueue(func(controller, priority string, waited time.Duration) {
				got = append(got, want{controller, priority, waited})
			})("c", atOnce{})
			defer q.ShutDown()
			timed, _ := q.(*timed)
			timed.now = func() time.Time { return time.Unix(0, 0) }
			tc.add(q)
			timed.now = func() time.Time { return time.Unix(60, 0) }
			if item, _ := q.Get(); item != request("a") || len(timed.due) != 0 {
				t.Errorf("\n%s\nGet(): got %v, remembered %v", tc.reason, item, timed.due)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nobserved: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTimedIsPriorityQueue checks that a controller recognizes the queue, because it would lose the priorities otherwise.
func TestTimedIsPriorityQueue(t *testing.T) {
	q := NewQueue(func(string, string, time.Duration) {})("p", atOnce{})
	defer q.ShutDown()
	if _, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); !ok {
		t.Error("NewQueue(...): want a priority queue")
	}
}
