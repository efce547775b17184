// SPDX-License-Identifier: Apache-2.0

package share

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestSharesLong checks how many passes can begin beside others that unexpectedly take long.
func TestSharesLong(t *testing.T) {
	const workers = 10
	cases := map[string]struct {
		reason string
		// namespaces is the number of namespaces of the passes, and response is the response time of their clusters.
		namespaces int
		response   time.Duration
		// want contains the number of passes in all after each longPass.
		want []int
	}{
		"Quick": {
			reason:     "Passes of a namespace that become long make room for others, until they use three quarters of the room for long passes.",
			namespaces: 1, response: time.Millisecond, want: []int{8, 16, 24, 31, 31},
		},
		"Many": {
			reason: "All namespaces together use all workers, and the room for three times as many long passes.", namespaces: 100, response: time.Millisecond,
			want: []int{10, 20, 30, 40, 40},
		},
		"Slow": {
			reason: "Passes that are expected to be slow have their own limit.", namespaces: 100, response: time.Second, want: []int{5, 5, 5},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s *Shares
				var mu sync.Mutex
				running := map[types.NamespacedName]*Worker{}
				begin := func(nn types.NamespacedName) {
					if w, ok := s.Acquire(nn.String(), nn); ok {
						mu.Lock()
						defer mu.Unlock()
						running[nn] = w
					}
				}
				s = New(workers, begin, func(types.NamespacedName) time.Duration { return tc.response })
				for i := range 100 {
					nn := types.NamespacedName{Namespace: fmt.Sprint("n", i%tc.namespaces), Name: fmt.Sprint("m", i)}
					// What is known about its ProviderConfig also counts when it waits.
					s.pace.record(place{namespace: nn.Namespace, config: nn.String()}, tc.response, tc.response, time.Now())
					begin(nn)
				}
				var got []int
				for range tc.want {
					synctest.Wait()
					mu.Lock()
					got = append(got, len(running))
					mu.Unlock()
					time.Sleep(longPass)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\npasses: -want, +got:\n%s", tc.reason, diff)
				}
				// All others follow, and nothing is left.
				for {
					mu.Lock()
					ended := slices.Collect(maps.Values(running))
					clear(running)
					mu.Unlock()
					if len(ended) == 0 {
						break
					}
					for _, w := range ended {
						s.Release(w)
					}
					synctest.Wait()
				}
				time.Sleep(10 * turnTime)
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.spare.total+len(s.spare.used)+len(s.running)+len(s.used)+s.waiting.active != 0 || s.spare.awaited {
					t.Errorf("%s\nwant nothing left: %+v", tc.reason, s)
				}
			})
		})
	}
}
