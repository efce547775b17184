// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestCondition has each phase of a part, and all that outranks a phase.
func TestCondition(t *testing.T) {
	// in a phase is a bundle of two parts, of which the first one is Ready.
	in := func(p engine.Phase) engine.Observation {
		return engine.Observation{Exists: true, State: p.State(), Message: "b: x", Parts: []engine.PartState{
			{Install: "a", Phase: engine.PhaseReady, State: engine.Ready}, {Install: "b", Phase: p, State: p.State()},
		}}
	}
	works := in(engine.PhaseCeded)
	works.Works = true
	absent := in(engine.PhaseApplying)
	absent.Exists = false
	several := in(engine.PhaseBroken)
	several.Parts = append(several.Parts, engine.PartState{Install: "c", Phase: engine.PhaseDegraded, State: engine.Warning})
	watched, back := &v1alpha1.RollbackStatus{}, &v1alpha1.RollbackStatus{RolledBack: true}
	type want struct {
		Ready  bool
		Reason xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		o      engine.Observation
		plan   *v1alpha1.PlanStatus
		back   *v1alpha1.RollbackStatus
		want   want
	}{
		"Ready":         {reason: "All is well.", o: in(engine.PhaseReady), want: want{true, "Available"}},
		"Missing":       {reason: "An object that the policy ignores may be missing.", o: in(engine.PhaseMissing), want: want{true, "Available"}},
		"Applying":      {reason: "It is being applied.", o: in(engine.PhaseApplying), want: want{false, "Progressing"}},
		"HooksRunning":  {reason: "Hooks are part of that.", o: in(engine.PhaseHooksRunning), want: want{false, "Progressing"}},
		"Progressing":   {reason: "An object starts.", o: in(engine.PhaseProgressing), want: want{false, "Progressing"}},
		"Pruning":       {reason: "An object goes.", o: in(engine.PhasePruning), want: want{false, "Progressing"}},
		"Leaving":       {reason: "A part goes that no longer is in the list of parts.", o: engine.Observation{Exists: true, State: engine.Processing}, want: want{false, "Progressing"}},
		"Blocked":       {reason: "It waits for something else.", o: in(engine.PhaseBlocked), want: want{false, "Blocked"}},
		"Drifted":       {reason: "An object is about to be repaired.", o: in(engine.PhaseDrifted), want: want{false, "Drifted"}},
		"Broken":        {reason: "An object is missing, and stays so.", o: in(engine.PhaseBroken), want: want{false, "Drifted"}},
		"Contended":     {reason: "A repair has to wait.", o: in(engine.PhaseContended), want: want{false, "Drifted"}},
		"Several":       {reason: "The first part with the state of the whole counts, as for the message.", o: several, want: want{false, "Drifted"}},
		"Changed":       {reason: "Changed fields may keep an object from working.", o: in(engine.PhaseChanged), want: want{false, "Drifted"}},
		"Ceded":         {reason: "So may fields that were ceded.", o: in(engine.PhaseCeded), want: want{false, "Drifted"}},
		"Works":         {reason: "All objects work although others changed them.", o: works, want: want{true, "Drifted"}},
		"Degraded":      {reason: "An object reports a warning.", o: in(engine.PhaseDegraded), want: want{false, "Unavailable"}},
		"Failed":        {reason: "The API server refuses an object.", o: in(engine.PhaseFailed), want: want{false, "ModuleFailed"}},
		"HookFailed":    {reason: "A hook failed.", o: in(engine.PhaseHookFailed), want: want{false, "ModuleFailed"}},
		"Unreadable":    {reason: "An object cannot be read.", o: in(engine.PhaseUnreadable), want: want{false, "ModuleFailed"}},
		"Unhealthy":     {reason: "An object failed.", o: in(engine.PhaseUnhealthy), want: want{false, "ModuleFailed"}},
		"RemovalFailed": {reason: "A hook of a part that goes failed.", o: in(engine.PhaseRemovalFailed), want: want{false, "ModuleFailed"}},
		"Terminating":   {reason: "The custom resource says so.", o: in(engine.PhaseTerminating), want: want{false, "Deleting"}},

		"PlannedFirst":    {reason: "Nothing is there, and a plan without changes says nothing about that.", o: absent, plan: &v1alpha1.PlanStatus{}, want: want{false, "Planned"}},
		"Planned":         {reason: "There is something to do.", o: in(engine.PhaseApplying), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "Planned"}},
		"PlannedProblem":  {reason: "A problem counts.", o: in(engine.PhaseApplying), plan: &v1alpha1.PlanStatus{Problems: 1}, want: want{false, "Planned"}},
		"PlannedNothing":  {reason: "There is nothing to do, so that the installed objects count.", o: in(engine.PhaseProgressing), plan: &v1alpha1.PlanStatus{}, want: want{false, "Progressing"}},
		"PlannedReady":    {reason: "Nor are they late.", o: in(engine.PhaseReady), plan: &v1alpha1.PlanStatus{}, want: want{true, "Available"}},
		"PlannedFailed":   {reason: "What is wrong with the installed objects outranks a plan.", o: in(engine.PhaseUnhealthy), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "ModuleFailed"}},
		"PlannedDegraded": {reason: "So does a warning.", o: in(engine.PhaseDegraded), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "Unavailable"}},

		"Watched":          {reason: "An upgrade that is being watched is nothing special.", o: in(engine.PhaseProgressing), back: watched, want: want{false, "Progressing"}},
		"RolledBack":       {reason: "The last known good revision runs.", o: engine.Observation{Exists: true, State: engine.Warning}, back: back, want: want{false, "RolledBack"}},
		"RollingBack":      {reason: "It is being restored.", o: in(engine.PhaseProgressing), back: back, want: want{false, "RolledBack"}},
		"RollbackFailed":   {reason: "It cannot be restored.", o: in(engine.PhaseFailed), back: back, want: want{false, "ModuleFailed"}},
		"RolledBackRemove": {reason: "It goes.", o: in(engine.PhaseTerminating), back: back, want: want{false, "Deleting"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Condition(&tc.o, &v1alpha1.ManifestObservation{Message: tc.o.Message, Plan: tc.plan, Rollback: tc.back})
			if diff := cmp.Diff(tc.want, want{c.Status == "True", c.Reason}); diff != "" {
				t.Errorf("\n%s\nCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
			if c.Message != tc.o.Message {
				t.Errorf("\n%s\nCondition(...): want message %q, got %q", tc.reason, tc.o.Message, c.Message)
			}
		})
	}
}
