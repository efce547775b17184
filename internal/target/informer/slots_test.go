// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlots checks that the first list of a kind waits for a slot, and releases it.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, shared := newFake(), make(chan struct{}, 1)
		c := New(server, mapping, fakeInterpreter{}, WithSlots(shared))
		defer c.Close()
		shared <- struct{}{}
		if err := track(t, c, secrets); err == nil || len(server.asked()) > 0 {
			t.Errorf("want no request without a slot, got %v", err)
		}
		<-shared
		if err := track(t, c, secrets); err != nil || len(shared) > 0 {
			t.Errorf("want a list that returns its slot, got %v and %d slots", err, len(shared))
		}
	})
}

// TestSlotsAreShared checks how long a list waits for others that hang.
func TestSlotsAreShared(t *testing.T) {
	const all = 64
	cases := map[string]struct {
		reason string
		// caches is the number of other caches, and lists is the number of lists of each that hang.
		caches, lists int
		want          time.Duration
	}{
		"None":     {reason: "There is nothing to wait for."},
		"One":      {reason: "A cluster with many kinds uses only a few slots.", caches: 1, lists: 1000},
		"Full":     {reason: "A list that takes long continues without its slot.", caches: all / ownSlots, lists: ownSlots, want: slotTime},
		"Overfull": {reason: "Lists that waited longer are first.", caches: 5 * all / ownSlots, lists: ownSlots, want: 5 * slotTime},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := make(chan struct{}, all)
				of := func() slots { return slots{shared: shared, own: make(chan struct{}, ownSlots)} }
				for range tc.caches {
					hostile := of()
					for range tc.lists {
						go func() { _, _ = hostile.take(t.Context()) }()
					}
				}
				synctest.Wait()
				start := time.Now()
				release, ok := of().take(t.Context())
				if took := time.Since(start); !ok || took != tc.want {
					t.Errorf("\n%s\ntake(...): want a slot after %s, got %t after %s", tc.reason, tc.want, ok, took)
				}
				release()
			})
		})
	}
}

// TestSlotsEnd checks that a list that no longer waits takes no slot.
func TestSlotsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots{shared: make(chan struct{}, 1), own: make(chan struct{}, 1)}
		release, _ := s.take(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, ok := s.take(ctx); ok {
			t.Error("take(...): want no slot")
		}
		release()
		release()
		if len(s.shared)+len(s.own) > 0 {
			t.Errorf("want all slots returned, got %d and %d in use", len(s.shared), len(s.own))
		}
		o := slots{shared: s.shared, own: make(chan struct{}, 1)}
		s.shared <- struct{}{}
		if _, ok := o.take(ctx); ok || len(o.own) > 0 {
			t.Errorf("take(...): want no slot, got %t and %d in use", ok, len(o.own))
		}
		time.Sleep(2 * slotTime)
		if len(s.own) > 0 {
			t.Error("a slot that was returned is returned again")
		}
	})
}
