// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// A replica is a Manager with its Owner. cut is true while its requests fail, and deaf while the response of its next update is lost.
type replica struct {
	owner     *Owner
	manager   *Manager
	end       context.CancelFunc
	ended     chan struct{}
	cut, deaf bool

	mu           sync.Mutex
	gained, lost []int
	// gains is the number of times that the replica gained shards together.
	gains int
}

// A fleet is the replicas of one API server. It checks that no two of them can write for a shard.
type fleet struct {
	t        *testing.T
	count    int
	leases   *fakeLeases
	replicas []*replica
	// work contains the contexts of work that never ends by itself, by replica and shard.
	work map[*replica]map[int]context.Context
	// slow is not nil if cancelled work ends only when it is closed.
	slow chan struct{}
}

func newFleet(t *testing.T, count int) *fleet {
	t.Helper()
	return &fleet{t: t, count: count, leases: &fakeLeases{by: map[string]*coordinationv1.Lease{}}, work: map[*replica]map[int]context.Context{}}
}

func (f *fleet) start(shards map[int]bool) *replica {
	f.t.Helper()
	r := &replica{owner: NewOwner(), ended: make(chan struct{})}
	r.owner.OnGain(func(shards []int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.gained = append(r.gained, shards...)
		r.gains++
	})
	r.owner.OnLoss(func(shards []int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lost = append(r.lost, shards...)
	})
	name := fmt.Sprintf("replica-%d", len(f.replicas))
	r.manager = NewManager(f.leases.of(r), r.owner, Options{Count: f.count, Shards: shards, Name: name, Log: logging.NewNopLogger()})
	ctx, cancel := context.WithCancel(f.t.Context())
	r.end = cancel
	go func() {
		defer close(r.ended)
		_ = r.manager.Start(ctx)
	}()
	f.replicas, f.work[r] = append(f.replicas, r), map[int]context.Context{}
	return r
}

// run lets a time pass. All replicas begin work in each of their shards as soon as they can, which ends only after its context.
func (f *fleet) run(d time.Duration) {
	f.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		synctest.Wait()
		for s := range f.count {
			writers := 0
			for _, r := range f.replicas {
				f.startWork(r, s)
				if ctx := f.work[r][s]; ctx != nil && r.owner.CheckWork(ctx) == nil {
					writers++
				}
			}
			if writers > 1 {
				f.t.Fatalf("%d replicas can write for shard %d", writers, s)
			}
		}
	}
}

func (f *fleet) startWork(r *replica, s int) {
	if ctx := f.work[r][s]; ctx != nil && r.owner.CheckWork(ctx) == nil {
		return
	}
	ctx, leave, ok := r.owner.Enter(context.Background(), s, func() bool { return true })
	if !ok {
		return
	}
	f.work[r][s] = ctx //nolint:fatcontext // Each context is another one.
	context.AfterFunc(ctx, func() {
		if f.slow != nil {
			<-f.slow
		}
		leave()
	})
}

func (f *fleet) stop() {
	for _, r := range f.replicas {
		r.end()
	}
	for _, r := range f.replicas {
		<-r.ended
	}
}

// loads returns how many shards each replica can work in.
func (f *fleet) loads() []int {
	out := make([]int, 0, len(f.replicas))
	for _, r := range f.replicas {
		n := 0
		for s := range f.count {
			if ctx, leave, ok := r.owner.Enter(context.Background(), s, func() bool { return true }); ok && r.owner.Check(ctx) == nil {
				leave()
				n++
			}
		}
		out = append(out, n)
	}
	return out
}

func (f *fleet) cut(r *replica, yes bool) {
	f.leases.mu.Lock()
	defer f.leases.mu.Unlock()
	r.cut = yes
}

// TestManager checks how shards move when replicas start, end and fail, and in each step that no two replicas can write for a shard.
func TestManager(t *testing.T) {
	const convergence = 8 * time.Second
	cases := map[string]struct {
		reason string
		count  int
		play   func(f *fleet)
		want   []int
	}{
		"One": {
			reason: "A single replica takes all shards, and queues their objects in one pass.", count: 5,
			play: func(f *fleet) {
				f.start(nil)
				f.run(convergence)
				if n := f.replicas[0].gains; n != 1 {
					f.t.Errorf("want the shards gained together, got %d times", n)
				}
			},
			want: []int{5},
		},
		"Three": {reason: "Shards are spread evenly.", count: 8, play: startThree, want: []int{2, 3, 3}},
		"Joins": {
			reason: "A new replica gets its share.", count: 8,
			play: func(f *fleet) { f.start(nil); f.run(convergence); f.start(nil); f.run(convergence) }, want: []int{4, 4},
		},
		"Leaves": {
			reason: "The shards of a replica that ends move at once.", count: 6,
			play: func(f *fleet) {
				startThree(f)
				f.replicas[0].end()
				f.run(3 * period)
			},
			want: []int{0, 3, 3},
		},
		"Dies": {
			reason: "The shards of a replica that dies have moved after 15 seconds.", count: 6,
			play: func(f *fleet) { startThree(f); f.cut(f.replicas[1], true); f.run(15 * time.Second) }, want: []int{3, 0, 3},
		},
		"Returns": {
			reason: "A replica that was declared dead becomes a member again.", count: 6,
			play: func(f *fleet) {
				startThree(f)
				f.cut(f.replicas[1], true)
				f.run(15 * time.Second)
				f.cut(f.replicas[1], false)
				f.run(2 * convergence)
			},
			want: []int{2, 2, 2},
		},
		"Outage": {
			reason: "If the API server was unavailable, no shard moves.", count: 6,
			play: func(f *fleet) {
				startThree(f)
				held := f.replicas[0].owner.Held()
				for _, r := range f.replicas {
					f.cut(r, true)
				}
				f.run(time.Minute)
				for _, r := range f.replicas {
					f.cut(r, false)
				}
				f.run(convergence)
				if got := f.replicas[0].owner.Held(); !slices.Equal(got, held) {
					f.t.Errorf("want shards %v as before, got %v", held, got)
				}
				if r := f.replicas[0]; len(r.lost) > 0 || len(r.gained) != 2*len(held) {
					f.t.Errorf("want no shard lost, and each one gained again, got gained %v, lost %v", r.gained, r.lost)
				}
			},
			want: []int{2, 2, 2},
		},
		"Deaf": {
			reason: "A renewal whose response is lost moves nothing.", count: 4,
			play: func(f *fleet) {
				f.start(nil)
				f.start(nil)
				f.run(convergence)
				f.leases.mu.Lock()
				f.replicas[0].deaf = true
				f.leases.mu.Unlock()
				f.run(convergence)
				if r := f.replicas[0]; len(r.lost) > 0 || len(r.gained) != 2 {
					f.t.Errorf("want the shards that it had, got gained %v, lost %v", r.gained, r.lost)
				}
			},
			want: []int{2, 2},
		},
		"Selected": {
			reason: "A replica holds only the shards that it accepts.", count: 4,
			play: func(f *fleet) { f.start(map[int]bool{0: true}); f.start(nil); f.run(convergence) }, want: []int{1, 3},
		},
		"Keeps": {
			reason: "If the replica that should get shards leaves while the work in them ends, the holder works in them again.", count: 4,
			play: func(f *fleet) {
				startAndEndSlowly(f)
				if r := f.replicas[0]; len(r.lost) > 0 {
					f.t.Errorf("want no shard lost while its work has not ended, got %v", r.lost)
				}
				close(f.slow)
				f.run(convergence)
				if r := f.replicas[0]; len(r.lost) != 2 || len(r.gained) != 6 {
					f.t.Errorf("want two shards lost and gained again, got gained %v, lost %v", r.gained, r.lost)
				}
			},
			want: []int{4, 0},
		},
		"KeepsAfterOutage": {
			reason: "This does not depend on whether all work was suspended meanwhile.", count: 4,
			play: func(f *fleet) {
				startAndEndSlowly(f)
				f.cut(f.replicas[0], true)
				f.run(time.Minute)
				f.cut(f.replicas[0], false)
				f.run(convergence)
				close(f.slow)
				f.run(convergence)
			},
			want: []int{4, 0},
		},
		"GivesAfterAll": {
			reason: "A replica that joins later gets shards all the same.", count: 4,
			play: func(f *fleet) {
				startAndEndSlowly(f)
				f.start(nil)
				f.run(convergence)
				close(f.slow)
				f.run(convergence)
			},
			want: []int{2, 0, 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, tc.count)
				defer f.stop()
				tc.play(f)
				got := f.loads()
				if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(tc.want))) {
					t.Errorf("\n%s\nwant numbers of shards %v in any order, got %v", tc.reason, tc.want, got)
				}
			})
		})
	}
}

func startThree(f *fleet) {
	for range 3 {
		f.start(nil)
	}
	f.run(10 * time.Second)
}

// startAndEndSlowly starts a replica with all shards, and another one that ends before the work in the shards that it should get has ended.
func startAndEndSlowly(f *fleet) {
	f.slow = make(chan struct{})
	f.start(nil)
	f.run(10 * time.Second)
	f.start(nil)
	f.run(3 * period)
	f.replicas[1].end()
	f.run(3 * period)
}
