// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// listTime is how long the first list of a kind may take before its objects are read one by one.
const listTime = time.Minute

// A listing collects the kinds of one call whose first list is in progress. All of them have the same error.
type listing struct {
	cluster.ListingError

	kinds []*kind
}

// standing returns nil for a kind that is in sync, and otherwise why it is not. It does not wait.
func (l *listing) standing(k *kind) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.err != nil:
		return k.err
	case k.synced:
		return nil
	case !k.queued && time.Since(k.tried) > listTime:
		return k.late(context.DeadlineExceeded)
	}
	if !slices.Contains(l.kinds, k) {
		l.kinds = append(l.kinds, k)
		l.Kinds = append(l.Kinds, k.gk.Kind)
		slices.Sort(l.Kinds)
	}
	l.Notify = l.notify
	return &l.ListingError
}

// notify calls a function when none of the kinds is being listed anymore.
func (l *listing) notify(f func()) {
	left := &atomic.Int64{}
	left.Store(int64(len(l.kinds)))
	for _, k := range l.kinds {
		k.whenListed(func() {
			if left.Add(-1) == 0 {
				f()
			}
		})
	}
}

// Retry retries all failing watches, because the cluster is reachable again, and calls a function when each of them has succeeded or
// failed. Until then, the objects of their kinds would be read one by one.
func (c *Cache) Retry(then func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var retried []*kind
	for _, k := range c.kinds {
		if k.retrySoon() {
			retried = append(retried, k)
		}
	}
	if c.root.Err() != nil {
		return
	}
	c.running.Go(func() {
		ctx, cancel := context.WithTimeout(c.root, listTime)
		defer cancel()
		for _, k := range retried {
			_ = k.wait(ctx) // Track returns the error.
		}
		then()
	})
}
