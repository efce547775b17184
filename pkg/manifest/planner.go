// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A planner executes the steps of package plan, and sends the requests between them.
type planner struct {
	input    plan.Input
	bundle   *Bundle
	composer *compose.Composer
	// config provides the settings of the installs.
	config *compose.Config
	cache  cluster.Cache
	health observe.Evaluator
	// checkCRD returns the reason why an existing CRD must not change, or nil if it may change.
	checkCRD func(ctx context.Context, o *object.Desired, en inventory.Entry) error
	// holds is true if parts wait for the installs before them as specified in config.
	holds bool
}

// plan makes the plan. It returns an error only if the context has ended.
func (p *planner) plan(ctx context.Context) (*plan.Plan, error) {
	selected := plan.Select(p.input)
	draft := plan.Assign(selected, p.compose(ctx, selected.Due))
	hold, err := p.hold(ctx, draft)
	if err != nil {
		return nil, err
	}
	return plan.Build(draft, hold, p.check(ctx, draft.CRDChanges())), nil
}

// compose composes the parts that are due. It reads the config only if one of them is an install; otherwise the inventory
// contains the settings that are needed.
func (p *planner) compose(ctx context.Context, due []plan.Due) plan.Composed {
	out := plan.Composed{
		Components: map[object.PartID]*compose.Component{}, Errors: map[object.PartID]error{}, Waits: map[object.PartID]bool{},
	}
	for _, d := range due {
		c, err := p.composer.Compose(ctx, d.Part, d.Record)
		if err != nil {
			out.Errors[d.Part.Name] = err
			continue
		}
		out.Components[d.Part.Name] = c
	}
	if p.bundle.Config == nil || !slices.ContainsFunc(due, func(d plan.Due) bool { return d.Part.Install != nil }) {
		return out
	}
	settings, err := p.config.Settings(ctx)
	if err != nil {
		return out // The installs that are due report the error.
	}
	for i := range p.bundle.Installs {
		name := p.bundle.Installs[i].Name
		out.Waits[object.PartOf(name)] = settings.Waits(name)
	}
	return out
}

// hold returns the first install that is not ready and for which later parts wait, or nil if there is none. An install that
// cannot be read counts as not ready. It returns an error only if the context has ended.
func (p *planner) hold(ctx context.Context, d *plan.Draft) (*plan.Hold, error) {
	if !p.holds {
		return nil, nil //nolint:nilnil // As documented.
	}
	ask, otherwise := d.Awaited()
	for _, install := range ask {
		why, unready, err := observe.Unready(ctx, p.health, d.Inventory, d.Objects, install)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			return &plan.Hold{Install: install, Reason: plan.Why(err)}, nil
		case unready:
			return &plan.Hold{Install: install, Reason: why}, nil
		}
	}
	return otherwise, nil
}

// check checks the CRDs that are about to change. It returns the CRDs that must not change, with the reasons.
func (p *planner) check(ctx context.Context, changes []plan.CRDChange) map[cluster.ObjectRef]error {
	refused := map[cluster.ObjectRef]error{}
	for i := range changes {
		change := &changes[i]
		ref := change.Object.Ref
		if _, cached := p.cache.Get(ref); !change.Known && !cached && !p.bundle.Adopt {
			continue // The create request shows whether it exists.
		}
		if err := p.checkCRD(ctx, change.Object, change.Entry); err != nil {
			refused[ref] = err
		}
	}
	return refused
}
