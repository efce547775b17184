// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestCondition covers each phase of a part, and everything that takes precedence over a phase.
func TestCondition(t *testing.T) {
	// in returns an observation of a bundle with two parts, of which the first one is Ready and the second one is in the given
	// phase.
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
		Ready   bool
		Reason  xpv2.ConditionReason
		Stalled bool
	}
	cases := map[string]struct {
		reason string
		o      engine.Observation
		plan   *v1alpha1.PlanStatus
		back   *v1alpha1.RollbackStatus
		want   want
	}{
		"Ready":         {reason: "All objects are ready.", o: in(engine.PhaseReady), want: want{true, "Available", false}},
		"Missing":       {reason: "An object that the policy ignores may be missing.", o: in(engine.PhaseMissing), want: want{true, "Available", false}},
		"Applying":      {reason: "The module is being applied.", o: in(engine.PhaseApplying), want: want{false, "Progressing", false}},
		"HooksRunning":  {reason: "Hooks are part of the application.", o: in(engine.PhaseHooksRunning), want: want{false, "Progressing", false}},
		"Progressing":   {reason: "An object is starting.", o: in(engine.PhaseProgressing), want: want{false, "Progressing", false}},
		"Pruning":       {reason: "An object is being pruned.", o: in(engine.PhasePruning), want: want{false, "Progressing", false}},
		"Leaving":       {reason: "A part that the bundle no longer contains is being removed.", o: engine.Observation{Exists: true, State: engine.Processing}, want: want{false, "Progressing", false}},
		"Blocked":       {reason: "The module waits for something else.", o: in(engine.PhaseBlocked), want: want{false, "Blocked", false}},
		"Drifted":       {reason: "An object is about to be repaired.", o: in(engine.PhaseDrifted), want: want{false, "Drifted", false}},
		"Broken":        {reason: "An object is missing, and is not repaired.", o: in(engine.PhaseBroken), want: want{false, "Drifted", true}},
		"TakenOver":     {reason: "An object belongs to another Manifest until one of the two changes.", o: in(engine.PhaseTakenOver), want: want{false, "Drifted", true}},
		"Contended":     {reason: "A repair must wait.", o: in(engine.PhaseContended), want: want{false, "Drifted", false}},
		"Several":       {reason: "The first part with the state of the whole counts, as for the message.", o: several, want: want{false, "Drifted", true}},
		"Changed":       {reason: "Changed fields can prevent an object from working.", o: in(engine.PhaseChanged), want: want{false, "Drifted", false}},
		"Ceded":         {reason: "Ceded fields can prevent an object from working.", o: in(engine.PhaseCeded), want: want{false, "Drifted", false}},
		"Works":         {reason: "All objects work although others changed them.", o: works, want: want{true, "Drifted", false}},
		"Degraded":      {reason: "An object reports a warning.", o: in(engine.PhaseDegraded), want: want{false, "Unavailable", false}},
		"Failed":        {reason: "The API server refuses an object.", o: in(engine.PhaseFailed), want: want{false, "ModuleFailed", true}},
		"Retrying":      {reason: "A registry does not answer.", o: in(engine.PhaseRetrying), want: want{false, "ModuleFailed", false}},
		"HookFailed":    {reason: "A hook failed.", o: in(engine.PhaseHookFailed), want: want{false, "ModuleFailed", true}},
		"Unreadable":    {reason: "An object cannot be read.", o: in(engine.PhaseUnreadable), want: want{false, "ModuleFailed", true}},
		"Unhealthy":     {reason: "An object failed.", o: in(engine.PhaseUnhealthy), want: want{false, "ModuleFailed", true}},
		"RemovalFailed": {reason: "A hook of a part that is being removed failed.", o: in(engine.PhaseRemovalFailed), want: want{false, "ModuleFailed", true}},
		"Terminating":   {reason: "The custom resource is in state Deleting.", o: in(engine.PhaseTerminating), want: want{false, "Deleting", false}},

		"PlannedFirst":    {reason: "Nothing is installed, even if the plan has no changes.", o: absent, plan: &v1alpha1.PlanStatus{}, want: want{false, "Planned", false}},
		"Planned":         {reason: "The plan has changes.", o: in(engine.PhaseApplying), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "Planned", false}},
		"PlannedProblem":  {reason: "The plan has problems.", o: in(engine.PhaseApplying), plan: &v1alpha1.PlanStatus{Problems: 1}, want: want{false, "Planned", false}},
		"PlannedNothing":  {reason: "The plan is empty, so the state of the installed objects is reported.", o: in(engine.PhaseProgressing), plan: &v1alpha1.PlanStatus{}, want: want{false, "Progressing", false}},
		"PlannedReady":    {reason: "The plan is empty, and the installed objects are ready.", o: in(engine.PhaseReady), plan: &v1alpha1.PlanStatus{}, want: want{true, "Available", false}},
		"PlannedFailed":   {reason: "A failure of the installed objects takes precedence over a plan.", o: in(engine.PhaseUnhealthy), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "ModuleFailed", true}},
		"PlannedDegraded": {reason: "A warning of the installed objects takes precedence over a plan.", o: in(engine.PhaseDegraded), plan: &v1alpha1.PlanStatus{Change: 1}, want: want{false, "Unavailable", false}},

		"Watched":          {reason: "An upgrade that can still be rolled back is reported like any other.", o: in(engine.PhaseProgressing), back: watched, want: want{false, "Progressing", false}},
		"RolledBack":       {reason: "The last known good revision runs.", o: engine.Observation{Exists: true, State: engine.Warning}, back: back, want: want{false, "RolledBack", true}},
		"RollingBack":      {reason: "The last known good revision is being restored.", o: in(engine.PhaseProgressing), back: back, want: want{false, "RolledBack", true}},
		"RollbackFailed":   {reason: "The last known good revision cannot be restored.", o: in(engine.PhaseFailed), back: back, want: want{false, "ModuleFailed", true}},
		"RolledBackRemove": {reason: "The module is being removed.", o: in(engine.PhaseTerminating), back: back, want: want{false, "Deleting", false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, stalled := Condition(&tc.o, &v1alpha1.ManifestObservation{Message: tc.o.Message, Plan: tc.plan, Rollback: tc.back})
			if diff := cmp.Diff(tc.want, want{c.Status == "True", c.Reason, stalled}); diff != "" {
				t.Errorf("\n%s\nCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
			if c.Message != tc.o.Message {
				t.Errorf("\n%s\nCondition(...): want message %q, got %q", tc.reason, tc.o.Message, c.Message)
			}
		})
	}
}

func TestIsFinal(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Marked":   {reason: "An invalid field stays invalid.", err: errors.Wrap(Final(errors.New("no")), "field"), want: true},
		"Unsigned": {reason: "A signature does not appear by itself.", err: errors.Wrap(&ocm.VerificationError{Reason: "no"}, "nothing is applied"), want: true},
		"Owned":    {reason: "The other owner stays.", err: errors.Wrap(&engine.OwnedError{}, "cannot observe"), want: true},
		"Away":     {reason: "A cluster can return.", err: errors.New("no")},
		"None":     {reason: "No error is marked.", err: Final(nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsFinal(tc.err); got != tc.want {
				t.Errorf("\n%s\nIsFinal(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
