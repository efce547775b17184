// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
)

type (
	// A Plan describes what Apply would do until nothing is left to do.
	Plan = execute.Plan
	// A PlannedChange describes what Apply would do with one object.
	PlannedChange = execute.Change
	// An Action is the kind of a PlannedChange.
	Action = execute.Action
)

// Actions of a Plan.
const (
	ActionCreate   = execute.ActionCreate
	ActionUpdate   = execute.ActionUpdate
	ActionRecreate = execute.ActionRecreate
	ActionPrune    = execute.ActionPrune
)

// A keptPlan is a plan that Plan returns again until a point in time, as long as its basis stays the same.
type keptPlan struct {
	until time.Time
	plan  Plan
}

// problemAge limits how long a plan with problems is kept, because the cause of a problem may go away without a watch event.
const problemAge = time.Minute

func (e *Engine) keepFor(p *Plan) time.Duration {
	if len(p.Problems) > 0 {
		return min(problemAge, e.planAge)
	}
	return e.planAge
}

// Preview returns the result of PreviewOf, rendered with the Renderer of the engine.
func (e *Engine) Preview(ctx context.Context, b *Bundle, kubeVersion string) ([]Preview, error) {
	return compose.PreviewOf(ctx, e.renderer, b, kubeVersion)
}
