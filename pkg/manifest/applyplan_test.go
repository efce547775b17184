// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestApplyPlan(t *testing.T) {
	v1, v2 := bundleOf(install("web", deployOf(1, "a"))), bundleOf(install("web", deployOf(2, "a")))
	cases := map[string]struct {
		reason string
		// between runs after the bundle was planned.
		between func(b *bench)
		apply   *Bundle
		stale   bool
	}{
		"Holds": {reason: "A plan is applied if nothing changed.", between: func(*bench) {}, apply: v2},
		"Drift": {
			reason:  "If other objects in the cluster changed, the plan is stale.",
			between: func(b *bench) { b.s.remove(key("Deployment", "apps", "web")) }, apply: v2, stale: true,
		},
		"Inputs": {reason: "The plan of another bundle is stale.", between: func(*bench) {}, apply: v1, stale: true},
		"Applied": {
			reason:  "A plan that was applied in the meantime is not applied again.",
			between: func(b *bench) { b.reconcile(v2) }, apply: v2, stale: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(v1)
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
			if changed := r.Updated+r.Created > 0; changed == tc.stale {
				t.Errorf("\n%s\nApplyPlan(...): %+v", tc.reason, r)
			}
		})
	}
}

func TestApplyPlanComparesContent(t *testing.T) {
	random := configMap("x") + "---\n" + strings.ReplaceAll(configMap("y"), "k: v", "k: {{ randAlphaNum 20 | quote }}")
	cases := map[string]struct {
		reason string
		chart  Install
		// moved is what the source contains at the time of the approval.
		moved Install
		stale bool
	}{
		"Same":  {reason: "Another process applies the plan, too, if the chart renders the same objects.", chart: install("web", configMap("x")), moved: install("web", configMap("x"))},
		"Moved": {reason: "Objects that the plan did not show are not applied.", chart: install("web", configMap("x")), moved: install("web", configMap("x"), configMap("y")), stale: true},
		"Other": {
			reason: "Different content of an object is not applied.",
			chart:  install("web", configMap("x")), moved: install("web", strings.ReplaceAll(configMap("x"), "k: v", "k: other")), stale: true,
		},
		"Hook": {
			reason: "A hook that the plan did not show does not run.",
			chart:  install("web", configMap("x"), hookJob("a", "pre-install")), moved: install("web", configMap("x"), hookJob("b", "pre-install")), stale: true,
		},
		"Broken": {
			reason: "The plan did not show the objects of a chart that could not be rendered.",
			chart:  install("web", `{{ fail "no" }}`), moved: install("web", configMap("x")), stale: true,
		},
		"Random": {reason: "A chart that renders differently each time never matches its plan.", chart: install("web", random), moved: install("web", random), stale: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p, err := b.Plan(t.Context(), b.c, bundleOf(tc.chart))
			if err != nil {
				t.Fatal(err)
			}
			tc.moved.Digest = tc.chart.Digest
			b.restart()
			b.s.took()
			r, err := b.ApplyPlan(t.Context(), b.c, bundleOf(tc.moved), p)
			if stale := (*StalePlanError)(nil); errors.As(err, &stale) != tc.stale || (err != nil) != tc.stale {
				t.Errorf("\n%s\nApplyPlan(...): %v", tc.reason, err)
			}
			if applied := r.Created > 0 && b.s.uidOf(key("ConfigMap", "apps", "x")) != ""; applied == tc.stale {
				t.Errorf("\n%s\nApplyPlan(...): %+v", tc.reason, r)
			}
			if tc.stale && slices.ContainsFunc(b.s.took(), func(req string) bool { return !strings.HasPrefix(req, "get ") }) {
				t.Errorf("\n%s\nApplyPlan(...): the cluster was changed", tc.reason)
			}
		})
	}
}

// A plan also shows parts that are held back.
func TestApplyPlanHoldsBack(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := waitingBundle("hello", "Wait=true")
	p, err := b.Plan(t.Context(), b.c, s)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := b.ApplyPlan(t.Context(), b.c, s, p); err != nil || r.Created == 0 || r.Waiting == "" {
		t.Errorf("ApplyPlan(...): %+v, %v", r, err)
	}
}

func TestApplyPlanWithoutBasis(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", deployOf(1, "a")))
	r, err := b.ApplyPlan(t.Context(), b.c, s, Plan{})
	if err == nil || r.Created > 0 || len(b.s.took()) > 0 {
		t.Errorf("a plan that Plan did not return must not be applied: %+v, %v", r, err)
	}
}

func TestPlanBelongsToCaller(t *testing.T) {
	b := newBench(t)
	b.Engine = New(WithPlanAge(time.Hour))
	s := bundleOf(install("web", deployOf(1, "a")))
	p, err := b.Plan(t.Context(), b.c, s)
	if err != nil || len(p.Changes) != 1 {
		t.Fatalf("Plan(...): %+v, %v", p, err)
	}
	p.Changes[0].Action = ActionPrune
	if again, err := b.Plan(t.Context(), b.c, s); err != nil || again.Changes[0].Action != ActionCreate {
		t.Errorf("a caller changed the plan that is kept: %+v, %v", again, err)
	}
}
