// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// faults are the ways in which clusters fail, by the names of their phases.
func faults() []struct {
	name  string
	fault apiserver.Fault
} {
	return []struct {
		name  string
		fault apiserver.Fault
	}{
		{"refused", apiserver.Fault{Mode: apiserver.Refused}},
		{"black-hole", apiserver.Fault{Mode: apiserver.BlackHole}},
		{"hang", apiserver.Fault{Mode: apiserver.Hang}},
		{"slow", apiserver.Fault{Latency: 300 * time.Millisecond, BytesPerSecond: 1000}},
		{"401", apiserver.Fault{Mode: apiserver.Unauthorized}},
		{"403", apiserver.Fault{Mode: apiserver.Forbidden}},
		{"429", apiserver.Fault{Mode: apiserver.TooManyRequests, RetryAfter: 1}},
		{"500", apiserver.Fault{Mode: apiserver.ServerError}},
		{"stalled-watches", apiserver.Fault{Mode: apiserver.StalledWatches}},
		{"swapped-certificate", apiserver.Fault{Mode: apiserver.SwappedCertificate}},
		{"replaced", apiserver.Fault{Mode: apiserver.Replaced}},
	}
}

// faultSteps returns the phases with faults: for each share of the fleet and each fault, and a rollout with black holes.
func faultSteps() []Step {
	var out []Step
	for _, percent := range []int{1, 10} {
		for _, f := range faults() {
			out = append(out, Step{Name: fmt.Sprintf("fault-%s-%d%%", f.name, percent), Do: fault(percent, f.fault)})
		}
	}
	return append(out, Step{Name: "rollout-black-hole-10%", Do: rolloutWithBlackHoles})
}

// faultEdits is the number of edits during a fault, for the clusters that fail and again for the others.
const faultEdits = 20

// fault returns a phase in which a share of the clusters fail for a while. Users edit Kymas of these clusters, so that the provider has work for
// them, and as many Kymas of the others. It ends when the failing clusters have the changes. It fails if the provider creates objects in a cluster that
// replaces another one.
func fault(percent int, f apiserver.Fault) func(ctx context.Context, r *Run, p *report.Phase) error {
	return func(ctx context.Context, r *Run, p *report.Phase) error {
		first, last := r.failing(percent)
		names := world.Clusters(first, last)
		before, err := r.World.Simulator.CountOf(names)
		if err != nil {
			return err
		}
		if err := r.World.Simulator.SetFault(names, f); err != nil {
			return err
		}
		r.edits++
		change := fmt.Sprintf("edit %d", r.edits)
		changed, err := r.editDuring(ctx, first, last, change, p)
		if err != nil {
			return err
		}
		during, err := r.World.Simulator.CountOf(names)
		if err != nil {
			return err
		}
		if err := r.World.Simulator.SetFault(names, apiserver.Fault{}); err != nil {
			return err
		}
		begin := time.Now()
		if err := r.checkReplacements(names, f); err != nil {
			return err
		}
		err = r.World.AwaitMessage(ctx, world.Clusters(first, first+changed), change, r.Timeout)
		p.Values = map[string]float64{
			"failing": float64(last - first), "changed": float64(changed), "requests_to_failing": float64(during - before),
			"recovery_s": time.Since(begin).Seconds(),
		}
		return err
	}
}

// checkReplacements returns an error if objects were created in clusters that responded instead of others.
func (r *Run) checkReplacements(clusters []string, f apiserver.Fault) error {
	if f.Mode != apiserver.Replaced {
		return nil
	}
	created, err := r.World.Simulator.Created(clusters)
	if err != nil {
		return err
	}
	return untouched(created)
}

// untouched returns an error that names the first cluster in which objects were created.
func untouched(created map[string][]string) error {
	if len(created) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(created)))
	return errors.Errorf("objects were created in %d clusters that responded instead of others, first in that of %s: %v", len(created), first, created[first])
}

// failing returns the range of the clusters that fail in the next phase with a fault. These are other clusters than in the phase before, because the
// pauses between probes are longer if a cluster failed a moment ago. The second half of the clusters never fails.
func (r *Run) failing(percent int) (first, last int) {
	size := r.share(percent)
	groups := max(r.working()/2/size, 1)
	first = r.faults % groups * size
	r.faults++
	return first, first + size
}

// editDuring lets users edit Kymas for the time of a fault: those of the failing clusters between first and last, and those of clusters that never
// fail. It returns the number of failing clusters whose Kymas were changed; these are the first ones.
func (r *Run) editDuring(ctx context.Context, first, last int, change string, p *report.Phase) (changed int, err error) {
	done := make(chan struct{})
	timer := time.AfterFunc(r.Fault, func() { close(done) })
	defer timer.Stop()
	every := max(r.Fault/faultEdits, time.Millisecond)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		changed, err = r.changeEach(ctx, every, first, last, change, done)
		return err
	})
	g.Go(func() (err error) {
		u := &users{run: r, every: every, first: max(r.working()/2, last), last: r.working()}
		p.Edits, err = u.edit(ctx, 2*faultEdits, done)
		return err
	})
	err = g.Wait()
	return changed, err
}

// changeEach changes the Kymas of the clusters between first and last, one at each interval, until done is closed. It does not wait for the clusters.
func (r *Run) changeEach(ctx context.Context, every time.Duration, first, last int, change string, done <-chan struct{}) (changed int, err error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for first+changed < last {
		if err := r.World.Change(ctx, first+changed, change); err != nil {
			return changed, err
		}
		changed++
		select {
		case <-tick.C:
		case <-done:
			return changed, nil
		case <-ctx.Done():
			return changed, ctx.Err()
		}
	}
	return changed, nil
}

// rolloutWithBlackHoles releases a version while a tenth of the clusters neither respond nor refuse connections. It ends when all
// clusters have the version.
func rolloutWithBlackHoles(ctx context.Context, r *Run, p *report.Phase) error {
	failing := r.share(10) //nolint:mnd // A tenth.
	names := world.Clusters(0, failing)
	if err := r.World.Simulator.SetFault(names, apiserver.Fault{Mode: apiserver.BlackHole}); err != nil {
		return err
	}
	begin := time.Now()
	if err := r.rollOut(ctx, failing); err != nil {
		return err
	}
	p.Values = map[string]float64{"failing": float64(failing), "rollout_to_others_s": time.Since(begin).Seconds()}
	if err := r.World.Simulator.SetFault(names, apiserver.Fault{}); err != nil {
		return err
	}
	return r.World.AwaitVersion(ctx, names, r.current(), r.Timeout)
}

// share returns the number of clusters in a percentage of the fleet. It is at least one, and not the whole fleet.
func (r *Run) share(percent int) int {
	const all = 100
	return max(min(r.working()*percent/all, r.working()-1), 1)
}

// restartAPIServer restarts the API server of the control plane, and edits a Kyma afterwards.
func restartAPIServer(ctx context.Context, r *Run, p *report.Phase) error {
	r.World.Control.StopAPIServer()
	if err := r.World.Control.StartAPIServer(ctx); err != nil {
		return err
	}
	var err error
	p.Edits, err = (&users{run: r, every: time.Millisecond, last: r.working()}).edit(ctx, 1, nil)
	return err
}
