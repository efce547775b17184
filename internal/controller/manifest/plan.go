// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// planOnly reports whether a Manifest is only planned and not applied, because of its mode or because its policies contain
// neither Create nor Update.
func planOnly(mr *v1alpha1.Manifest) bool {
	if mr.Spec.ForProvider.Mode == v1alpha1.ModePlan {
		return true
	}
	p := mr.GetManagementPolicies()
	return len(p) > 0 && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a == xpv2.ManagementActionAll || a == xpv2.ManagementActionCreate || a == xpv2.ManagementActionUpdate
	})
}

// observePlan reports what a step would do. It returns that the bundle exists and is up to date, so that the managed
// reconciler changes nothing.
func (e *external) observePlan(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	p := engine.Plan{}
	o, err := e.engine.Observe(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	e.reportOwner(err)
	if err == nil {
		p, err = e.engine.Plan(ctx, e.cluster, e.choice.bundle, e.choice.options(mr)...)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.report.wait(ctx, mr, e.after, err)
	}
	e.report.plan(mr, o, &p)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, Diff: e.report.diff(o)}, nil
}

// planned returns the observation of a bundle that is not applied. If the bundle has no other problem, its message describes
// what would change. The message is set immediately, because a condition that changes twice in a pass is written twice.
func planned(o engine.Observation, p *engine.Plan) engine.Observation {
	if o.Exists && p.Empty() {
		return o
	}
	o.Parts = slices.Clone(o.Parts)
	for i := range o.Parts {
		if o.Parts[i].Phase == engine.PhaseApplying {
			o.Parts[i].Message = "not applied, because the Manifest is only planned"
		}
	}
	if o.State != engine.Processing && o.State != engine.Ready {
		return o
	}
	o.State, o.Message = engine.Processing, "plan only, nothing is applied: "+planCounts(p)
	switch {
	case len(p.Problems) > 0:
		o.Message = fmt.Sprintf("%s; problems: %s", o.Message, conditions.List(slices.Clone(p.Problems)))
	case len(o.Drift) > 0:
		o.Message += "; " + allDrifts(o.Drift)
	}
	return o
}

// samePlan reports whether two plans are the same, regardless of their generation.
func samePlan(a, b *v1alpha1.PlanStatus) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	a.ObservedGeneration, b.ObservedGeneration = 0, 0
	return equality.Semantic.DeepEqual(a, b)
}

// countChanges counts the changes of a plan by action.
func countChanges(p *engine.Plan) (create, change, prune int32) {
	for i := range p.Changes {
		switch p.Changes[i].Action {
		case engine.ActionCreate:
			create++
		case engine.ActionPrune:
			prune++
		case engine.ActionUpdate, engine.ActionRecreate:
			change++
		}
	}
	return create, change, prune
}

// firstFields returns the first fields of a change for a message.
func firstFields(fields []string) []string {
	if len(fields) <= mostFields {
		return fields
	}
	return append(slices.Clone(fields[:mostFields]), "…")
}

// planCounts returns the counts of a plan as text.
func planCounts(p *engine.Plan) string {
	create, change, prune := countChanges(p)
	return fmt.Sprintf("%d to create, %d to change, %d to prune", create, change, prune)
}
