// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"math"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// All returns the phases in the order in which they are played. The phases from the beginning to report.Create must be played.
func All() []Step {
	steps := []Step{
		{Name: report.Empty, Do: empty},
		{Name: report.Connect, Do: connect},
		{Name: report.Create, Do: create},
		{Name: report.Idle, Do: idle, Restless: true},
		{Name: report.Profiles, Do: profiles, Restless: true},
		{Name: report.EditsAtRest, Do: editAtRest},
		{Name: report.Rollout, Do: rollout},
		{Name: report.RolloutEdits, Do: rolloutWithEdits},
		{Name: report.Rotation, Do: rotation},
		{Name: report.Restart, Do: restart},
		{Name: "restart-edit", Do: restartWithEdit},
		{Name: "restart-api-server", Do: restartAPIServer},
	}
	simulated := append([]Step{{Name: "enable-disable", Do: enableAndDisable}}, faultSteps()...)
	simulated = append(simulated,
		Step{Name: "adopt-releases", Do: adoptReleases},
		Step{Name: report.RolloutPolicy, Do: rolloutByPolicy},
		Step{Name: report.RolloutPolicyEdits, Do: rolloutByPolicyWithEdits},
		Step{Name: report.RolloutFailure, Do: rolloutThatFails},
		Step{Name: "rollout-offline", Do: rolloutPastOffline},
	)
	for _, s := range append(simulated, setSteps()...) {
		s.Simulated = true
		steps = append(steps, s)
	}
	return append(steps,
		Step{Name: report.Removal, Do: removal},
		// The leader renews its lease from then on, so the provider is never quiet again.
		Step{Name: report.Takeover, Do: takeOver, Restless: true},
	)
}

// empty releases the modules. There is no cluster yet.
func empty(ctx context.Context, r *Run, _ *report.Phase) error {
	if err := r.World.Release(ctx, r.next()); err != nil {
		return err
	}
	return r.World.AwaitModules(ctx)
}

// connect adds the clusters and their ProviderConfigs.
func connect(ctx context.Context, r *Run, _ *report.Phase) error { return r.World.AddClusters(ctx) }

// create creates the Kymas. It ends when all are Ready.
func create(ctx context.Context, r *Run, _ *report.Phase) error {
	return r.World.InstallKymas(ctx, r.Timeout)
}

// idle does nothing.
func idle(ctx context.Context, r *Run, _ *report.Phase) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.Idle):
		return nil
	}
}

// profiles reads what the memory and the goroutines at rest belong to.
func profiles(ctx context.Context, r *Run, _ *report.Phase) error {
	text, err := r.World.Provider.Profile(ctx, "goroutine")
	if err != nil {
		return err
	}
	if r.Result.Goroutines, _, err = report.GoroutineShares(text); err != nil {
		return err
	}
	if text, err = r.World.Provider.Profile(ctx, "heap"); err != nil {
		return err
	}
	var bytes float64
	r.Result.Heap, bytes, err = report.HeapShares(text)
	const mebi = 1 << 20
	r.Result.HeapRest = new(math.Round(bytes/mebi*10) / 10) //nolint:mnd // One decimal.
	return err
}

// editAtRest lets users edit while nothing else happens.
func editAtRest(ctx context.Context, r *Run, p *report.Phase) error {
	var err error
	p.Edits, err = (&users{run: r, every: editEvery, last: r.working()}).edit(ctx, r.Edits, nil)
	return err
}

// rollout releases a version. It ends when all clusters have it.
func rollout(ctx context.Context, r *Run, _ *report.Phase) error {
	return r.rollOut(ctx, 0)
}

// rollOut releases a version, and waits until the clusters from a number on have it.
func (r *Run) rollOut(ctx context.Context, first int) error {
	version := r.next()
	if err := r.World.Release(ctx, version); err != nil {
		return err
	}
	return r.World.AwaitVersion(ctx, world.Clusters(first, r.working()), version, r.Timeout)
}

// rolloutWithEdits releases a version, and lets users edit until all clusters have it.
func rolloutWithEdits(ctx context.Context, r *Run, p *report.Phase) error {
	const least = 50 * time.Millisecond // The edits must not be a load of their own.
	return r.editWhile(ctx, p, r.pace(report.Rollout, least), func(ctx context.Context) error { return r.rollOut(ctx, 0) })
}

// pace returns the interval between edits that results in the number of edits in the time of an earlier phase, but at least one interval. If
// the phase was not played, create takes about as long. More edits would use most of the CPU time in a large fleet.
func (r *Run) pace(phase string, least time.Duration) time.Duration {
	out := least
	for _, before := range r.Result.Phases {
		if before.Name == phase || before.Name == report.Create {
			out = max(least, time.Duration(before.Seconds/float64(r.Edits)*float64(time.Second)))
		}
	}
	return out
}

// editWhile lets users edit until a rollout ends.
func (r *Run) editWhile(ctx context.Context, p *report.Phase, every time.Duration, rollOut func(context.Context) error) error {
	done := make(chan struct{})
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	g.Go(func() error {
		defer close(done)
		err := rollOut(ctx)
		p.Values = map[string]float64{"rollout_s": time.Since(begin).Seconds()}
		return err
	})
	g.Go(func() error {
		var err error
		p.Edits, err = (&users{run: r, every: every, last: r.working()}).edit(ctx, math.MaxInt, done)
		return err
	})
	return g.Wait()
}

// rotation replaces the credentials of all clusters.
func rotation(ctx context.Context, r *Run, _ *report.Phase) error {
	err := objects.Parallel(ctx, r.working(), r.World.Rotate)
	if err != nil {
		return err
	}
	return r.connected(ctx, r.working())
}

// restart restarts the provider. It ends when the new process is connected to all clusters.
func restart(ctx context.Context, r *Run, _ *report.Phase) error {
	if err := r.startAgain(ctx); err != nil {
		return err
	}
	return r.connected(ctx, r.working())
}

// takeOver ends the provider while a second replica waits for the lease, and then lets a user edit a Kyma. The usage of the phase is that of the second
// replica since then.
func takeOver(ctx context.Context, r *Run, p *report.Phase) error {
	if err := r.startAgain(ctx, usage.LeaderElection); err != nil {
		return err
	}
	if err := r.connected(ctx, r.working()); err != nil {
		return err
	}
	if err := r.World.StartStandby(ctx); err != nil {
		return err
	}
	if err := r.World.Standby.Calm(ctx); err != nil {
		return err
	}
	var err error
	if r.before.Provider, err = r.World.Standby.Sample(ctx); err != nil {
		return err
	}
	if r.before.Target, err = r.World.Simulator.Count(); err != nil {
		return err
	}
	begin := time.Now()
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.World.Provider.Terminate(limit); err != nil {
		return err
	}
	p.Values = map[string]float64{"ended_s": time.Since(begin).Seconds(), "standby_rss_mib": r.before.Provider.RSS}
	r.World.PromoteStandby()
	if p.Edits, err = (&users{run: r, every: time.Millisecond, last: r.working()}).edit(ctx, 1, nil); err != nil {
		return err
	}
	p.Values["first_edit_s"] = time.Since(begin).Seconds()
	return r.connected(ctx, r.working())
}

// startAgain ends the provider and starts it again, with flags in addition. The usage of the phase begins with the new process.
func (r *Run) startAgain(ctx context.Context, args ...string) error {
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.World.Provider.Terminate(limit); err != nil {
		return err
	}
	r.before.Provider = usage.Sample{}
	var err error
	if r.before.Target, err = r.World.Simulator.Count(); err != nil {
		return err
	}
	return r.World.StartProvider(ctx, args...)
}

// restartWithEdit restarts the provider, while a user edits a Kyma.
func restartWithEdit(ctx context.Context, r *Run, p *report.Phase) error {
	begin := time.Now()
	if err := r.startAgain(ctx); err != nil {
		return err
	}
	p.Values = map[string]float64{"ready_s": time.Since(begin).Seconds()}
	edits, err := (&users{run: r, every: time.Millisecond, last: r.working()}).edit(ctx, 1, nil)
	if err != nil {
		return err
	}
	p.Edits, p.Values["first_edit_s"] = edits, time.Since(begin).Seconds()
	return r.connected(ctx, r.working())
}

// removal removes a tenth of the clusters.
func removal(ctx context.Context, r *Run, p *report.Phase) error {
	const share = 10
	n, last := max(r.working()/share, 1), r.working()
	p.Values = map[string]float64{report.Removed: float64(n), report.GoroutinesBefore: r.before.Provider.Metrics.Sum("go_goroutines")}
	r.removed += n
	err := objects.Parallel(ctx, n, func(ctx context.Context, i int) error { return r.World.Remove(ctx, last-1-i) })
	return errors.Wrap(err, "cannot remove a cluster")
}
