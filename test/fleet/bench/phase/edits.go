// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/simulator"
)

const (
	// editEvery is the interval between edits at rest.
	editEvery = 250 * time.Millisecond
	// editTimeout is the longest time of an edit that is waited for.
	editTimeout = 5 * time.Minute
)

// users edit Kymas. An edit begins at each interval, whether or not earlier ones have been shown, so that slow edits do not keep others
// from being measured. A Kyma has one edit at a time.
type users struct {
	run   *Run
	every time.Duration
	// first and last are the range of clusters, without the last one.
	first, last int

	mu       sync.Mutex
	busy     map[int]bool
	took     []time.Duration
	timedOut int
}

// edit begins up to n edits, until done is closed, and returns the times when all of them have been shown.
func (u *users) edit(ctx context.Context, n int, done <-chan struct{}) (*report.Edits, error) {
	u.busy = map[int]bool{}
	g, ctx := errgroup.WithContext(ctx)
	tick := time.NewTicker(u.every)
	defer tick.Stop()
	for more := true; more && n > 0; n-- {
		if cluster, ok := u.choose(); ok {
			u.run.edits++
			message := fmt.Sprintf("edit %d", u.run.edits)
			g.Go(func() error { return u.one(ctx, cluster, message) })
		}
		select {
		case <-tick.C:
		case <-done:
			more = false
		case <-ctx.Done():
			more = false
		}
	}
	err := g.Wait()
	return report.NewEdits(u.took, u.timedOut), err
}

// choose returns a random cluster whose Kyma is not being edited, and false if there seems to be none.
func (u *users) choose() (int, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for range 20 {
		c := u.first + rand.N(u.last-u.first)
		if !u.busy[c] {
			u.busy[c] = true
			return c, true
		}
	}
	return 0, false
}

func (u *users) one(ctx context.Context, cluster int, message string) error {
	took, err := u.run.World.Edit(ctx, cluster, message, editTimeout)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy[cluster] = false
	if errors.Is(err, simulator.ErrTimeout) {
		u.timedOut++
		err = nil
	}
	u.took = append(u.took, took)
	return err
}
