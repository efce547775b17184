// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// adoptReleases replaces the channels of the ModuleTemplates with ModuleReleaseMetas, which change nothing in the clusters.
func adoptReleases(ctx context.Context, r *Run, _ *report.Phase) error {
	return r.World.AdoptReleases(ctx, r.current())
}

// rolloutByPolicy releases a version to one batch of clusters after another, as a RolloutPolicy specifies, and lets users edit until all
// clusters have it.
func rolloutByPolicy(ctx context.Context, r *Run, p *report.Phase) error {
	return r.editWhile(ctx, p, editEvery, func(ctx context.Context) error {
		version := r.next()
		if err := r.World.Promote(ctx, version); err != nil {
			return err
		}
		return r.World.AwaitVersion(ctx, world.Clusters(0, r.working()), version, r.Timeout)
	})
}
