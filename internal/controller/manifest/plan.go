// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// mostPlanned objects, and mostPlannedFields of each, are in the status.
const (
	mostPlanned       = 64
	mostPlannedFields = 16
)

// planOnly reports whether a Manifest is only planned, and nothing of it applied: its annotation says so, or its policies
// have neither Create nor Update.
func planOnly(mr *v1alpha1.Manifest) bool {
	if mr.GetAnnotations()[v1alpha1.AnnotationPlan] == "true" {
		return true
	}
	p := mr.GetManagementPolicies()
	return len(p) > 0 && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a == xpv2.ManagementActionAll || a == xpv2.ManagementActionCreate || a == xpv2.ManagementActionUpdate
	})
}

// observePlan reports what a step would do. To the managed reconciler the set exists and is up to date, so it does nothing
// about it.
func (e *external) observePlan(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	p := engine.Plan{}
	o, err := e.engine.Observe(ctx, e.cluster, e.choice.set)
	if err == nil {
		p, err = e.engine.Plan(ctx, e.cluster, e.choice.set)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.report.failure(mr, transport.Explain(err))
	}
	e.report.plan(mr, o, &p)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, Diff: e.report.diff(o)}, nil
}

// plan in the status, with the observation that it is about.
func (r *reporter) plan(mr *v1alpha1.Manifest, o engine.Observation, p *engine.Plan) {
	at := &mr.Status.AtProvider
	before, version := at.Plan, at.Version
	at.Plan = r.planStatus(p)
	at.Plan.ObservedGeneration = mr.Generation
	r.observation(mr, planned(o, p))
	if before == nil || !samePlan(before, at.Plan) {
		r.recordPlan(mr, p)
	}
	switch {
	case !o.Exists:
		at.Installs, at.Resources, at.Version = nil, nil, ""
	case !p.Empty():
		// The version that is wanted is not there yet.
		at.Version = version
	}
}

// planned returns an observation of a set that is not applied. If nothing is wrong with what is there, it says what would
// be done. It says so at once, because a condition that changes twice in a pass is written each time.
func planned(o engine.Observation, p *engine.Plan) engine.Observation {
	if o.Exists && p.Empty() {
		return o
	}
	o.Parts = slices.Clone(o.Parts)
	for i := range o.Parts {
		if o.Parts[i].Applying {
			o.Parts[i].Message = "nothing is applied: it is only planned"
		}
	}
	if o.State != engine.Processing && o.State != engine.Ready {
		return o
	}
	o.State, o.Message = engine.Processing, "plan: "+planCounts(p)+"; nothing is applied"
	switch {
	case len(p.Problems) > 0:
		o.Message = fmt.Sprintf("%s; problems: %s", o.Message, list(slices.Clone(p.Problems)))
	case len(o.Drift) > 0:
		o.Message += "; " + allDrifts(o.Drift)
	}
	return o
}

// samePlan reports whether two plans are the same, of whatever generation.
func samePlan(a, b *v1alpha1.PlanStatus) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	a.ObservedGeneration, b.ObservedGeneration = 0, 0
	return equality.Semantic.DeepEqual(a, b)
}

// planStatus is what the status says about a plan.
func (r *reporter) planStatus(p *engine.Plan) *v1alpha1.PlanStatus {
	out := &v1alpha1.PlanStatus{}
	out.Create, out.Change, out.Prune = countChanges(p)
	for i := range p.Changes {
		c := &p.Changes[i]
		if len(out.Objects) < mostPlanned {
			out.Objects = append(out.Objects, v1alpha1.PlannedObject{
				Action: string(c.Action), Object: c.Key.String(), Fields: r.redactor.Texts(firstFields(c.Fields)),
			})
		}
	}
	out.Message = r.text(strings.Join(append(slices.Clone(p.Problems), p.Notes...), "; "))
	out.Problems = count(len(p.Problems))
	return out
}

// countChanges of a plan by what is done.
func countChanges(p *engine.Plan) (create, change, prune int32) {
	for i := range p.Changes {
		switch p.Changes[i].Action {
		case engine.ActionCreate:
			create++
		case engine.ActionPrune:
			prune++
		case engine.ActionChange, engine.ActionRecreate:
			change++
		}
	}
	return create, change, prune
}

// firstFields that the status has room for.
func firstFields(fields []string) []string {
	if len(fields) <= mostPlannedFields {
		return fields
	}
	return append(slices.Clone(fields[:mostPlannedFields]), "…")
}

// planCounts is a plan in numbers.
func planCounts(p *engine.Plan) string {
	create, change, prune := countChanges(p)
	return fmt.Sprintf("%d to create, %d to change, %d to prune", create, change, prune)
}

// recordPlan records the numbers of a plan, and its first objects.
func (r *reporter) recordPlan(mr *v1alpha1.Manifest, p *engine.Plan) {
	text := planCounts(p)
	lines := make([]string, 0, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		line := strings.ToLower(string(c.Action)) + " " + c.Key.String()
		if len(c.Fields) > 0 {
			line += " at " + strings.Join(firstFields(c.Fields), ", ")
		}
		lines = append(lines, line)
	}
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	if len(lines) > 0 {
		text += ": " + strings.Join(lines, "; ")
	}
	if len(p.Problems) > 0 {
		r.warn(mr, reasonPlanned, r.text("problems: "+list(slices.Clone(p.Problems))+"; "+text))
		return
	}
	r.note(mr, reasonPlanned, r.text(text))
}
