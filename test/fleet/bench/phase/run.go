// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// Options are the options of a run.
type Options struct {
	// Idle is the length of the idle phase, and Fault is that of each fault.
	Idle, Fault time.Duration
	// Edits is the number of edits of users at rest, and about that during a rollout.
	Edits int
	// Timeout limits each phase.
	Timeout time.Duration
}

// A Run plays phases in a world.
type Run struct {
	Options

	World  *world.World
	Result *report.Result

	// before is the state at the beginning of the phase.
	before report.Snapshot
	// edits is the number of edits until now, faults is the number of phases with a fault, and version is the version of the modules.
	edits, faults, version int
	// removed is the number of clusters that were removed. They are the last ones.
	removed int
}

// A Step is a phase of a run.
type Step struct {
	Name string
	// Do plays the phase, and sets what only this phase has. Its time is the duration of the phase.
	Do func(ctx context.Context, r *Run, p *report.Phase) error
	// Simulated means that the phase needs simulated clusters.
	Simulated bool
	// Restless means that the run does not wait until the provider is quiet after the phase.
	Restless bool
}

// Play plays phases in their order. The result has all phases until the first error.
func (r *Run) Play(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		fmt.Fprintf(os.Stderr, "bench-fleet: %s\n", s.Name)
		if err := r.play(ctx, s); err != nil {
			return errors.Wrapf(err, "phase %s", s.Name)
		}
		p := &r.Result.Phases[len(r.Result.Phases)-1]
		fmt.Fprintf(os.Stderr, "bench-fleet: %s took %.1f s, and %.1f s until the provider was quiet\n", s.Name, p.Seconds, p.QuietSeconds)
	}
	return nil
}

func (r *Run) play(ctx context.Context, s Step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, errors.Errorf("it did not end within %s", r.Timeout))
	defer cancel()
	if err := r.World.Provider.ResetPeak(); err != nil {
		return err
	}
	var err error
	if r.before, err = r.snapshot(ctx); err != nil {
		return err
	}
	p, begin := report.Phase{Name: s.Name, QuietSeconds: -1}, time.Now()
	if err := s.Do(ctx, r, &p); err != nil {
		return err
	}
	p.Seconds = time.Since(begin).Seconds()
	if !s.Restless {
		if _, err := r.World.Provider.Quiet(ctx, r.Timeout); err != nil {
			return err
		}
		p.QuietSeconds = time.Since(begin).Seconds()
	}
	after, err := r.snapshot(ctx)
	if err != nil {
		return err
	}
	p.Measure(r.before, after)
	r.Result.Phases = append(r.Result.Phases, p)
	return nil
}

// snapshot returns the state of the provider and the clusters.
func (r *Run) snapshot(ctx context.Context) (report.Snapshot, error) {
	var s report.Snapshot
	var err error
	if s.Provider, err = r.World.Provider.Sample(ctx); err != nil {
		return s, err
	}
	if s.Target, err = r.World.Simulator.Count(); err != nil {
		return s, err
	}
	s.ControlPlane, err = r.World.Metrics(ctx)
	return s, err
}

// connected waits until the provider is connected to a number of clusters.
func (r *Run) connected(ctx context.Context, clusters int) error {
	for {
		s, err := r.World.Provider.Sample(ctx)
		if err != nil {
			return err
		}
		n := s.Metrics.Counts("provider_kyma_target_connection_states", "state")["Connected"]
		if int(n) == clusters {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "the provider is connected to %v clusters, not to %d", n, clusters)
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
}

// working returns the number of clusters that were not removed.
func (r *Run) working() int { return r.World.Clusters - r.removed }

// next returns the next version of the modules.
func (r *Run) next() string {
	r.version++
	return r.current()
}

// current returns the version that was released last.
func (r *Run) current() string { return fmt.Sprintf("1.%d.0", r.version) }
