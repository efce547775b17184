// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"fmt"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// setSteps returns the phases with a KymaSet. The last one removes it with its clusters.
func setSteps() []Step {
	return []Step{
		{Name: report.Set, Do: func(ctx context.Context, r *Run, _ *report.Phase) error { return world.Set{World: r.World}.Create(ctx) }},
		{Name: report.SetTouched, Do: func(ctx context.Context, r *Run, _ *report.Phase) error { return world.Set{World: r.World}.Touch(ctx) }},
		{Name: report.SetChanged, Do: changeSet},
		{Name: "kymaset-removal", Do: func(ctx context.Context, r *Run, _ *report.Phase) error { return world.Set{World: r.World}.Remove(ctx) }},
	}
}

// changeSet changes a value in the template of the KymaSet. It ends when all clusters show it.
func changeSet(ctx context.Context, r *Run, _ *report.Phase) error {
	r.edits++
	return world.Set{World: r.World}.Change(ctx, fmt.Sprintf("edit %d", r.edits), r.Timeout)
}
