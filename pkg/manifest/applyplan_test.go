// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestApplyPlan(t *testing.T) {
	v1, v2 := setOf(install("web", deployOf(1, "a"))), setOf(install("web", deployOf(2, "a")))
	cases := map[string]struct {
		reason string
		// between is done after the bundle was planned.
		between func(b *bench)
		apply   *Bundle
		stale   bool
	}{
		"Holds": {reason: "A plan is applied while nothing changed.", between: func(*bench) {}, apply: v2},
		"Drift": {
			reason:  "Other objects in the cluster are another plan.",
			between: func(b *bench) { b.s.remove(key("Deployment", "apps", "web")) }, apply: v2, stale: true,
		},
		"Inputs": {reason: "Another bundle is another plan.", between: func(*bench) {}, apply: v1, stale: true},
		"Applied": {
			reason:  "What was applied meanwhile is not applied again.",
			between: func(b *bench) { b.settle(v2) }, apply: v2, stale: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.settle(v1)
			p, err := b.Plan(t.Context(), b.c, v2)
			if err != nil || len(p.Changes) != 1 {
				t.Fatalf("Plan(...): %+v, %v", p, err)
			}
			tc.between(b)
			b.s.took()
			r, err := b.ApplyPlan(t.Context(), b.c, tc.apply, p)
			stale := (*StalePlanError)(nil)
			if errors.As(err, &stale) != tc.stale || (err != nil) != tc.stale {
				t.Errorf("\n%s\nApplyPlan(...): %v", tc.reason, err)
			}
			if changed := r.Changed+r.Created > 0; changed == tc.stale {
				t.Errorf("\n%s\nApplyPlan(...): %+v", tc.reason, r)
			}
		})
	}
}

func TestApplyPlanWithoutBasis(t *testing.T) {
	b := newBench(t)
	s := setOf(install("web", deployOf(1, "a")))
	r, err := b.ApplyPlan(t.Context(), b.c, s, Plan{})
	if err == nil || r.Created > 0 || len(b.s.took()) > 0 {
		t.Errorf("a plan that Plan did not return must not be applied: %+v, %v", r, err)
	}
}

func TestPlanBelongsToCaller(t *testing.T) {
	b := newBench(t)
	b.Engine = New(WithPlanAge(time.Hour))
	s := setOf(install("web", deployOf(1, "a")))
	p, err := b.Plan(t.Context(), b.c, s)
	if err != nil || len(p.Changes) != 1 {
		t.Fatalf("Plan(...): %+v, %v", p, err)
	}
	p.Changes[0].Action = ActionPrune
	if again, err := b.Plan(t.Context(), b.c, s); err != nil || again.Changes[0].Action != ActionCreate {
		t.Errorf("a caller changed the plan that is kept: %+v, %v", again, err)
	}
}
