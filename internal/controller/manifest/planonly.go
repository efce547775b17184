// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

const (
	reasonPlanned event.Reason = "Planned"

	// mostPlanned objects, and mostPlannedFields of each, are in the status.
	mostPlanned       = 64
	mostPlannedFields = 16
)

// planOnly says whether a Manifest is only planned, and nothing of it applied: it says so itself, or its policies have
// neither Create nor Update.
func planOnly(mr *v1alpha1.Manifest) bool {
	if mr.GetAnnotations()[v1alpha1.AnnotationPlan] == "true" {
		return true
	}
	p := mr.GetManagementPolicies()
	return len(p) > 0 && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a == xpv2.ManagementActionAll || a == xpv2.ManagementActionCreate || a == xpv2.ManagementActionUpdate
	})
}

// plan instead of an application. To the reconciler it exists and is up to date, so that nothing is done about it.
func (e *external) plan(ctx context.Context, mr *v1alpha1.Manifest, o engine.Observation) (managed.ExternalObservation, error) {
	p, err := e.engine.Plan(ctx, e.cluster, e.set)
	if err = transport.Explain(err); err != nil {
		reportError(mr, err)
		return managed.ExternalObservation{}, err
	}
	version := mr.Status.AtProvider.Version
	report(mr, planned(o, &p))
	e.reportPlan(mr, o, &p, version)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, Diff: diff(o)}, nil
}

// reportPlan in the status, and in an event where it is another one than before. Version is the one that was reported
// before.
func (e *external) reportPlan(mr *v1alpha1.Manifest, o engine.Observation, p *engine.Plan, version string) {
	at := &mr.Status.AtProvider
	before := at.Plan
	at.Plan = planStatus(p)
	at.Plan.ObservedGeneration = mr.Generation
	if before == nil || !samePlan(before, at.Plan) {
		e.tellPlan(mr, p)
	}
	if !o.Exists {
		at.Installs, at.Resources, version = nil, nil, ""
	}
	if o.Exists && p.Empty() {
		return
	}
	at.Version = version
	for i := range at.Installs {
		// What is wanted is not on its way: it is planned only.
		if in := &at.Installs[i]; in.Message == engine.BeingApplied {
			in.Message = "nothing is applied: it is only planned"
		}
	}
}

// planned is what was seen of a set that is not applied: what would be done is said where nothing is wrong with what is
// there. It is said at once, as a condition that changes twice in a pass is written each time.
func planned(o engine.Observation, p *engine.Plan) engine.Observation {
	if (o.Exists && p.Empty()) || (o.State != engine.Processing && o.State != engine.Ready) {
		return o
	}
	o.State, o.Message = engine.Processing, "plan: "+planCounts(planStatus(p))+"; nothing is applied"
	switch {
	case len(p.Problems) > 0:
		o.Message = fmt.Sprintf("%s; problems: %s", o.Message, list(slices.Clone(p.Problems)))
	case len(o.Drift) > 0:
		o.Message += "; " + diff(o)
	}
	return o
}

// samePlan says whether two plans are the same, of whatever generation.
func samePlan(a, b *v1alpha1.PlanStatus) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	a.ObservedGeneration, b.ObservedGeneration = 0, 0
	return equality.Semantic.DeepEqual(a, b)
}

// planStatus is what the status says of a plan.
func planStatus(p *engine.Plan) *v1alpha1.PlanStatus {
	out := &v1alpha1.PlanStatus{}
	for i := range p.Changes {
		c := &p.Changes[i]
		switch c.Action {
		case engine.ActionCreate:
			out.Create++
		case engine.ActionPrune:
			out.Prune++
		case engine.ActionChange, engine.ActionRecreate:
			out.Change++
		}
		if len(out.Objects) < mostPlanned {
			out.Objects = append(out.Objects, v1alpha1.PlannedObject{
				Action: string(c.Action), Object: c.Key.String(), Fields: firstFields(c.Fields),
			})
		}
	}
	out.Message = cut(strings.Join(append(slices.Clone(p.Problems), p.Notes...), "; "))
	out.Problems = count(len(p.Problems))
	return out
}

func firstFields(fields []string) []string {
	if len(fields) <= mostPlannedFields {
		return fields
	}
	return append(slices.Clone(fields[:mostPlannedFields]), "…")
}

// planCounts is a plan in numbers.
func planCounts(p *v1alpha1.PlanStatus) string {
	return fmt.Sprintf("%d to create, %d to change, %d to prune", p.Create, p.Change, p.Prune)
}

// tellPlan in an event: the counts, and the first objects.
func (e *external) tellPlan(mr *v1alpha1.Manifest, p *engine.Plan) {
	at := mr.Status.AtProvider.Plan
	text := planCounts(at)
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
		e.record.Event(mr, event.Warning(reasonPlanned, errors.New(cut("problems: "+list(slices.Clone(p.Problems))+"; "+text))))
		return
	}
	e.record.Event(mr, event.Normal(reasonPlanned, cut(text)))
}
