// SPDX-License-Identifier: Apache-2.0

package share

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestTurns checks that the worker of a Manifest that was woken is not given to another Manifest, and that it is not kept for long.
func TestTurns(t *testing.T) {
	cases := map[string]struct {
		reason string
		// after is called after Manifest a of the namespace was woken.
		after func(s *Shares)
		// a and b report whether Manifests a and b get a worker then, in this order.
		a, b bool
		// woken contains the names of all Manifests that were woken.
		woken []string
	}{
		"Kept":  {reason: "The worker is kept for the Manifest that was woken.", after: func(*Shares) {}, a: true, woken: []string{"n/a"}},
		"Other": {reason: "A Manifest that was not woken waits.", after: func(s *Shares) { s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "b"}) }, a: true, woken: []string{"n/a"}},
		"Late":  {reason: "A Manifest that needs no worker anymore does not block others.", after: func(*Shares) { time.Sleep(turnTime + time.Second) }, a: true, woken: []string{"n/a"}},
		"LateOthers": {
			reason: "If the Manifest does not use its turn, the next one is woken.", woken: []string{"n/a", "n/b"}, b: true,
			after: func(s *Shares) {
				s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "b"})
				time.Sleep(turnTime + time.Second)
			},
		},
		"Gone": {
			reason: "If the Manifest was deleted, the next one is woken.", woken: []string{"n/a", "n/b"}, b: true,
			after: func(s *Shares) {
				s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "b"})
				s.Forget(types.NamespacedName{Namespace: "n", Name: "a"})
			},
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var woken []string
				s := New(1, func(nn types.NamespacedName) {
					mu.Lock()
					defer mu.Unlock()
					woken = append(woken, nn.String())
				}, silent)
				first, _ := s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "first"})
				s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "a"})
				s.Release(first)
				tc.after(s)
				_, a := s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "a"})
				_, b := s.Acquire("n/c", types.NamespacedName{Namespace: "n", Name: "b"})
				if diff := cmp.Diff([]bool{tc.a, tc.b}, []bool{a, b}); diff != "" {
					t.Errorf("\n%s\nAcquire() of a and b: -want, +got:\n%s", tc.reason, diff)
				}
				mu.Lock()
				defer mu.Unlock()
				if diff := cmp.Diff(tc.woken, woken); diff != "" {
					t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}
