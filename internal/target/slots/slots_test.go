// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const limit = 3 * time.Second

// TestTakeWaits checks how long a line waits for others that hang.
func TestTakeWaits(t *testing.T) {
	const all, most = 64, 8
	cases := map[string]struct {
		reason string
		// lines is the number of other lines, and calls is the number of calls of each.
		lines, calls int
		want         time.Duration
	}{
		"None":     {reason: "There is nothing to wait for."},
		"One":      {reason: "A line uses only some of the slots.", lines: 1, calls: 1000},
		"Full":     {reason: "A slot that is not released is released after some time.", lines: all / most, calls: most, want: limit},
		"Overfull": {reason: "Lines take turns, however many calls they have.", lines: 5 * all / most, calls: 1000, want: limit},
		"Many":     {reason: "Lines that began to wait earlier come first.", lines: 3 * all, calls: 1, want: 3 * limit},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(all)
				for range tc.lines {
					hostile := s.NewLine(most)
					for range tc.calls {
						go func() { _, _ = hostile.Take(t.Context(), limit) }()
					}
				}
				synctest.Wait()
				start := time.Now()
				release, ok := s.NewLine(most).Take(t.Context(), limit)
				if took := time.Since(start); !ok || took != tc.want {
					t.Errorf("\n%s\nTake(...): want a slot after %s, got %t after %s", tc.reason, tc.want, ok, took)
				}
				release()
			})
		})
	}
}

// TestPriorities checks the order in which lines get the only slot.
func TestPriorities(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before are the priorities of lines before their calls, and after those that are set while they wait.
		before, after []int
		want          string
	}{
		"None":   {reason: "Lines without a priority take turns.", before: []int{0, 0, 0}, want: "0 1 2"},
		"Higher": {reason: "Higher priorities come first.", before: []int{-3, -1, -2}, want: "1 2 0"},
		"Raised": {reason: "A line that waits can get a higher priority.", before: []int{-3, -3, -3}, after: []int{-3, -3, 0}, want: "2 0 1"},
		"Kept":   {reason: "A line that waits keeps its priority.", before: []int{-3, 0}, after: []int{-3, -5}, want: "1 0"},
		"Turns": {
			reason: "One of eight slots is for the line that waits longest.",
			before: []int{-9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, want: "1 2 3 4 5 6 0 7 8 9",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(1)
				release, _ := s.NewLine(1).Take(t.Context(), time.Hour)
				mu, got := sync.Mutex{}, ""
				lines := make([]*Line, len(tc.before))
				for i, p := range tc.before {
					lines[i] = s.NewLine(1)
					lines[i].SetPriority(p)
					go func() {
						done, _ := lines[i].Take(t.Context(), time.Hour)
						mu.Lock()
						got += fmt.Sprintf(" %d", i)
						mu.Unlock()
						done()
					}()
					synctest.Wait()
				}
				for i, p := range tc.after {
					lines[i].SetPriority(p)
				}
				release()
				synctest.Wait()
				if diff := cmp.Diff(" "+tc.want, got); diff != "" {
					t.Errorf("\n%s\norder: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestTakeEnds checks that a call whose context ends takes no slot, and that a slot is released only once.
func TestTakeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1)
		line, other := s.NewLine(1), s.NewLine(1)
		release, _ := line.Take(t.Context(), limit)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, l := range []*Line{line, other} {
			if _, ok := l.Take(ctx, limit); ok {
				t.Error("Take(...): want no slot")
			}
		}
		release()
		release()
		time.Sleep(2 * limit)
		if s.Free() != 1 || len(s.ready) > 0 {
			t.Errorf("want 1 free slot and no lines, got %d and %d", s.Free(), len(s.ready))
		}
		other.SetPriority(1)
		if _, ok := other.Take(t.Context(), limit); !ok || s.Free() != 0 {
			t.Errorf("Take(...): want the slot, got %t and %d free slots", ok, s.Free())
		}
	})
}

// TestNil checks that nothing is limited without slots.
func TestNil(t *testing.T) {
	l := (*Slots)(nil).NewLine(1)
	l.SetPriority(1)
	for range 3 {
		if release, ok := l.Take(t.Context(), limit); !ok || release == nil {
			t.Error("Take(...): want no limit")
		}
	}
}
