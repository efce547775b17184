// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// backWithin is the longest time from the verdict about a wave until its clusters have the previous version again.
const backWithin = time.Minute

// adoptReleases replaces the channels of the ModuleTemplates with ModuleReleaseMetas, which change nothing in the clusters.
func adoptReleases(ctx context.Context, r *Run, _ *report.Phase) error {
	return r.World.AdoptReleases(ctx, r.current())
}

// rolloutByPolicy releases a version to one batch of clusters after another, as a RolloutPolicy specifies.
func rolloutByPolicy(ctx context.Context, r *Run, _ *report.Phase) error {
	return r.promote(ctx, world.Batches)
}

// rolloutByPolicyWithEdits does the same, and lets users edit until all clusters have the version.
func rolloutByPolicyWithEdits(ctx context.Context, r *Run, p *report.Phase) error {
	return r.editWhile(ctx, p, r.pace(report.RolloutPolicy, time.Second), func(ctx context.Context) error { return r.promote(ctx, world.Batches) })
}

// promote releases the next version by a RolloutPolicy, and waits until the rollouts are complete and all clusters have it.
func (r *Run) promote(ctx context.Context, policy string) error {
	version := r.next()
	if err := r.World.Promote(ctx, world.Promotion{Version: version, Policy: policy}); err != nil {
		return err
	}
	if _, err := r.World.AwaitComplete(ctx, version); err != nil {
		return err
	}
	return r.World.AwaitVersion(ctx, world.Clusters(0, r.working()), version, 0)
}

// rolloutThatFails releases a version that becomes Ready in no cluster. It checks how many clusters ever receive it, that the wave changes
// back, and that a newer version reaches all clusters.
func rolloutThatFails(ctx context.Context, r *Run, p *report.Phase) error {
	good, bad, all := r.current(), r.next(), world.Clusters(0, r.working())
	begin := time.Now()
	if err := r.World.ObserveVersion(all, bad); err != nil {
		return err
	}
	if err := r.World.Promote(ctx, world.Promotion{Version: bad, Policy: world.Waves, Broken: true}); err != nil {
		return err
	}
	if err := r.World.AwaitPhase(ctx, bad, v1alpha1.RolloutRollingBack, v1alpha1.RolloutRolledBack); err != nil {
		return err
	}
	verdict := time.Now()
	if err := r.World.AwaitVersion(ctx, all, good, backWithin); err != nil {
		return errors.Wrapf(err, "the wave is not back on version %s", good)
	}
	back := time.Now()
	if err := r.World.AwaitPhase(ctx, bad, v1alpha1.RolloutRolledBack); err != nil {
		return err
	}
	if err := r.World.AwaitKymas(ctx); err != nil {
		return err
	}
	e := exposure{budget: world.Budget(len(r.canaries())), wave: r.canaries()}
	p.Values = map[string]float64{report.Budgeted: float64(e.budget), "verdict_s": verdict.Sub(begin).Seconds(), "back_s": back.Sub(verdict).Seconds()}
	if err := r.checkExposure(p, e); err != nil {
		return err
	}
	fixed := time.Now()
	if err := r.promote(ctx, world.Waves); err != nil {
		return err
	}
	p.Values["fix_s"] = time.Since(fixed).Seconds()
	return r.checkExposure(p, e)
}

// checkExposure sets how many clusters have received the version until now, and checks it.
func (r *Run) checkExposure(p *report.Phase, e exposure) error {
	received, err := r.World.Simulator.Observed()
	if err != nil {
		return err
	}
	p.Values[report.Exposed] = float64(e.most(received))
	return e.check(received)
}

// canaries returns the clusters of the first wave.
func (r *Run) canaries() []string {
	var out []string
	for i := range r.working() {
		if world.IsCanary(i) {
			out = append(out, world.Cluster(i))
		}
	}
	return out
}

// An exposure limits which clusters may receive a version: the clusters of the first wave, and no more of them than a budget for each
// module.
type exposure struct {
	budget int
	wave   []string
}

// most returns the highest number of clusters that received a module.
func (e exposure) most(received map[string][]string) int {
	most := 0
	for _, clusters := range received {
		most = max(most, len(clusters))
	}
	return most
}

// check returns an error if clusters received a version that may not, or if none did: then, nothing was tested.
func (e exposure) check(received map[string][]string) error {
	most := e.most(received)
	if most == 0 {
		return errors.New("no cluster received the version that fails")
	}
	if most > e.budget {
		return errors.Errorf("%d clusters received a version that fails, and the budget is %d: %v", most, e.budget, received)
	}
	for module, clusters := range received {
		for _, c := range clusters {
			if !slices.Contains(e.wave, c) {
				return errors.Errorf("cluster %s is not in the first wave, but received the version of %s that fails", c, module)
			}
		}
	}
	return nil
}

// disconnect makes clusters unreachable: half of them refuse connections, and half do not respond.
func (r *Run) disconnect(ctx context.Context, clusters []string) error {
	const halves = 2
	for i, mode := range []apiserver.Mode{apiserver.Refused, apiserver.BlackHole} {
		half := clusters[i*len(clusters)/halves : (i+1)*len(clusters)/halves]
		if err := r.World.Simulator.SetFault(half, apiserver.Fault{Mode: mode}); err != nil {
			return err
		}
	}
	return r.World.AwaitUnreachable(ctx, len(clusters))
}

// checkOffline checks the numbers of a complete rollout while some clusters cannot be reached.
func (r *Run) checkOffline(s *v1alpha1.ChannelRollout, failing int) error {
	if int(s.Offline) != failing || int(s.Total) != r.working() || int(s.Ready) != r.working()-failing {
		return errors.Errorf("of %d Kymas, %d are offline and %d are Ready, when %d clusters cannot be reached", s.Total, s.Offline, s.Ready, failing)
	}
	return nil
}

// rolloutPastOffline releases a version while a tenth of the clusters cannot be reached: half of them refuse connections, and half do not
// respond. The rollout must complete without them, and they must catch up when they can be reached again.
func rolloutPastOffline(ctx context.Context, r *Run, p *report.Phase) error {
	failing := r.share(10) //nolint:mnd // A tenth.
	offline, reachable := world.Clusters(0, failing), world.Clusters(failing, r.working())
	if err := r.disconnect(ctx, offline); err != nil {
		return err
	}
	begin, version := time.Now(), r.next()
	if err := r.World.Promote(ctx, world.Promotion{Version: version, Policy: world.Waves}); err != nil {
		return err
	}
	states, err := r.World.AwaitComplete(ctx, version)
	if err != nil {
		return errors.Wrap(err, "the offline clusters block the rollout, or count")
	}
	p.Values = map[string]float64{"offline": float64(failing), "rollout_s": time.Since(begin).Seconds()}
	for i := range states {
		if err := r.checkOffline(&states[i], failing); err != nil {
			return err
		}
	}
	if err := r.World.AwaitVersion(ctx, reachable, version, 0); err != nil {
		return errors.Wrap(err, "a rollout is complete")
	}
	if err := r.World.Simulator.SetFault(offline, apiserver.Fault{}); err != nil {
		return err
	}
	begin = time.Now()
	if err := r.World.AwaitVersion(ctx, offline, version, r.Timeout); err != nil {
		return err
	}
	p.Values["catch_up_s"] = time.Since(begin).Seconds()
	_, err = r.World.AwaitRollouts(ctx, version, func(c *v1alpha1.ChannelRollout) (bool, error) {
		return c.Phase == v1alpha1.RolloutComplete && c.Ready == c.Total && int(c.Total) == r.working(), nil
	})
	return err
}
