// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func inModePlan(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }

func withPolicies(p ...xpv2.ManagementAction) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = p }
}

func TestPlanOnly(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   bool
	}{
		"Default":       {reason: "A Manifest is applied.", mr: named("n", "m")},
		"All":           {reason: "The management policy * includes applying.", mr: named("n", "m", withPolicies(xpv2.ManagementActionAll))},
		"Mode":          {reason: "The mode counts whatever the policies are.", mr: named("n", "m", inModePlan), want: true},
		"ModeApply":     {reason: "The default is to apply.", mr: named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModeApply })},
		"Observe":       {reason: "Who only observes plans.", mr: named("n", "m", withPolicies(xpv2.ManagementActionObserve)), want: true},
		"ObserveDelete": {reason: "To delete is not to apply.", mr: named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete)), want: true},
		"ObserveUpdate": {reason: "To update is to apply.", mr: named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := planOnly(tc.mr); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func planOf(n int, problems ...string) engine.Plan {
	p := engine.Plan{Problems: problems}
	for i := range n {
		p.Changes = append(p.Changes, engine.PlannedChange{Key: cluster.ObjectRef{Kind: "ConfigMap", Name: fmt.Sprintf("c%d", i)}, Action: engine.ActionCreate})
	}
	return p
}

func TestObservePlan(t *testing.T) {
	change := engine.Plan{Changes: []engine.PlannedChange{
		{Key: cluster.ObjectRef{Kind: "ConfigMap", Name: "a"}, Action: engine.ActionUpdate, Fields: []string{"data.k"}},
		{Key: cluster.ObjectRef{Kind: "Job", Name: "j"}, Action: engine.ActionRecreate},
		{Key: cluster.ObjectRef{Kind: "Secret", Name: "s"}, Action: engine.ActionPrune},
	}, Notes: []string{"web: the chart has 2 hooks"}}
	installed := engine.Observation{
		Exists: true, State: engine.Processing, Message: "web: is being applied", Total: 3, Ready: 3,
		Parts: []engine.PartState{{Install: "web", State: engine.Processing, Message: "is being applied", Phase: engine.PhaseApplying}},
	}
	type want struct {
		state   v1alpha1.State
		message string
		ready   corev1.ConditionStatus
		plan    *v1alpha1.PlanStatus
		events  []string
	}
	cases := map[string]struct {
		reason string
		o      engine.Observation
		plan   engine.Plan
		want   want
	}{
		"NothingInstalled": {
			reason: "If nothing is installed, the message contains the planned changes.",
			o:      engine.Observation{State: engine.Processing, Message: "nothing is installed yet"},
			plan:   planOf(2),
			want: want{
				state: v1alpha1.StateProcessing, message: "plan only, nothing is applied: 2 to create, 0 to change, 0 to prune", ready: corev1.ConditionFalse,
				plan: &v1alpha1.PlanStatus{ObservedGeneration: 3, Create: 2, Objects: []v1alpha1.PlannedObject{
					{Action: "Create", ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Name: "c0"}}, {Action: "Create", ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Name: "c1"}},
				}},
				events: []string{"Planned: 2 to create, 0 to change, 0 to prune: create ConfigMap c0; create ConfigMap c1"},
			},
		},
		"Installed": {
			reason: "If the installed objects differ from the spec, the Manifest is not Ready.",
			o:      installed, plan: change,
			want: want{
				state: v1alpha1.StateProcessing, message: "plan only, nothing is applied: 0 to create, 2 to change, 1 to prune", ready: corev1.ConditionFalse,
				plan: &v1alpha1.PlanStatus{ObservedGeneration: 3, Change: 2, Prune: 1, Message: "web: the chart has 2 hooks", Objects: []v1alpha1.PlannedObject{
					{Action: "Change", ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Name: "a"}, Fields: []string{"data.k"}}, {Action: "Recreate", ObjectReference: v1alpha1.ObjectReference{Kind: "Job", Name: "j"}}, {Action: "Prune", ObjectReference: v1alpha1.ObjectReference{Kind: "Secret", Name: "s"}},
				}},
				events: []string{"Planned: 0 to create, 2 to change, 1 to prune: change ConfigMap a at data.k; recreate Job j; prune Secret s"},
			},
		},
		"NothingToDo": {
			reason: "Without planned changes, the state is that of the installed objects.",
			o:      engine.Observation{Exists: true, UpToDate: true, State: engine.Ready},
			want: want{
				state: v1alpha1.StateReady, ready: corev1.ConditionTrue, plan: &v1alpha1.PlanStatus{ObservedGeneration: 3},
				events: []string{"Planned: 0 to create, 0 to change, 0 to prune"},
			},
		},
		"Broken": {
			reason: "A failure of installed objects takes precedence over the plan.",
			o:      engine.Observation{Exists: true, State: engine.Error, Message: "web: Job j: failed"},
			plan:   planOf(1),
			want: want{
				state: v1alpha1.StateError, message: "web: Job j: failed", ready: corev1.ConditionFalse,
				plan:   &v1alpha1.PlanStatus{ObservedGeneration: 3, Create: 1, Objects: []v1alpha1.PlannedObject{{Action: "Create", ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Name: "c0"}}}},
				events: []string{"Planned: 1 to create, 0 to change, 0 to prune: create ConfigMap c0"},
			},
		},
		"Problems": {
			reason: "Problems are reported in the message and as a warning event.",
			o:      engine.Observation{State: engine.Processing}, plan: planOf(0, "web: no"),
			want: want{
				state: v1alpha1.StateProcessing, message: "plan only, nothing is applied: 0 to create, 0 to change, 0 to prune; problems: web: no",
				ready: corev1.ConditionFalse, plan: &v1alpha1.PlanStatus{ObservedGeneration: 3, Problems: 1, Message: "web: no"},
				events: []string{"Planned: problems: web: no; 0 to create, 0 to change, 0 to prune"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &recorded{}
			calls := &countingEngine{Engine: &mockEngine{
				observe: func() (engine.Observation, error) { return tc.o, nil },
				apply:   func() (engine.Result, error) { return engine.Result{}, nil },
				plan:    func() (engine.Plan, error) { return tc.plan, nil },
			}}
			e := externalOf(calls, &engine.Bundle{}, r)
			mr := named("n", "m", inModePlan)
			mr.Generation = 3
			var before *v1alpha1.Manifest
			for range 2 {
				before = mr.DeepCopy()
				o, err := e.Observe(t.Context(), mr)
				if diff := cmp.Diff(managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, o); diff != "" || err != nil {
					t.Fatalf("%s\n%v -want, +got:\n%s", tc.reason, err, diff)
				}
			}
			if want := (countingEngine{Engine: calls.Engine, observed: 2, planned: 2}); *calls != want {
				t.Errorf("%s\ntwo passes are one observation and one plan each, got %+v", tc.reason, *calls)
			}
			// Conditions are equal regardless of their times, but are written with their times.
			times := cmp.Transformer("time", func(c xpv2.Condition) string {
				return fmt.Sprint(c.Type, c.Status, c.Message, c.LastTransitionTime.UnixNano())
			})
			if diff := cmp.Diff(before, mr, times); diff != "" {
				t.Errorf("%s\nwhat is planned again is written again: -want, +got:\n%s", tc.reason, diff)
			}
			at := mr.Status.AtProvider
			got := want{state: at.State, message: at.Message, ready: mr.GetCondition(xpv2.TypeReady).Status, plan: at.Plan, events: r.events}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			for _, in := range at.Installs {
				if want := "not applied, because the Manifest is only planned"; in.Message != want {
					t.Errorf("install %s: want message %q, got %q", in.Name, want, in.Message)
				}
			}
			mr.Spec.ForProvider.Mode = v1alpha1.ModeApply
			o, err := e.Observe(t.Context(), mr)
			if err == nil && o.ResourceExists && !o.ResourceUpToDate {
				_, err = e.Update(t.Context(), mr)
			}
			if err != nil || o.ResourceExists != tc.o.Exists || mr.Status.AtProvider.Plan != nil {
				t.Errorf("in mode Apply there is no plan: %+v, %v", o, err)
			}
		})
	}
}

// TestObservePlanFails checks that an unreachable cluster is an error as usual, and that the size of a plan is limited.
func TestObservePlanFails(t *testing.T) {
	p := planOf(mostPlanned + 10)
	p.Changes[0].Fields = make([]string, 100)
	if st := (&reporter{}).planStatus(&p); st.Create != mostPlanned+10 || len(st.Objects) != mostPlanned || len(st.Objects[0].Fields) != mostFields || st.Objects[0].OmittedFields != 100-mostFields {
		t.Errorf("got %d to create, %d objects", st.Create, len(st.Objects))
	}
	e := externalOf(&mockEngine{
		observe: func() (engine.Observation, error) { return engine.Observation{}, nil },
		plan:    func() (engine.Plan, error) { return engine.Plan{}, errors.New("no answer") },
	}, &engine.Bundle{}, &recorded{})
	mr := named("n", "m", inModePlan)
	if _, err := e.Observe(t.Context(), mr); err == nil || mr.Status.AtProvider.State != v1alpha1.StateError {
		t.Errorf("want an error, got %v and %s", err, mr.Status.AtProvider.State)
	}
}
