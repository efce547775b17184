// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
)

// enableAndDisable lets users disable a module of some Kymas, and enable it again when it is removed from the cluster.
func enableAndDisable(ctx context.Context, r *Run, p *report.Phase) error {
	var mu sync.Mutex
	var disabled, enabled []time.Duration
	g, ctx := errgroup.WithContext(ctx)
	one := func(cluster int) error {
		off, err := r.World.Disable(ctx, cluster, editTimeout)
		if err != nil {
			return err
		}
		on, err := r.World.Enable(ctx, cluster, r.current(), editTimeout)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		disabled, enabled = append(disabled, off), append(enabled, on)
		return nil
	}
	n, tick := min(r.Edits, r.working()), time.NewTicker(2*editEvery) //nolint:mnd // Each Kyma changes twice.
	defer tick.Stop()
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error { return one(i * r.working() / n) })
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	off, on := report.NewEdits(disabled, 0), report.NewEdits(enabled, 0)
	p.Values = map[string]float64{
		"changes": float64(n), "disable_p50_s": off.P50, "disable_p99_s": off.P99, "enable_p50_s": on.P50, "enable_p99_s": on.P99,
	}
	return nil
}
