// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func strategyOf(t *testing.T, c *connected, namespace, text string) any {
	t.Helper()
	return content(t, c.live(t, namespace, text), namespace)["spec"].(map[string]any)["strategy"]
}

// TestRecreate checks the most common change of a chart, the requests that it causes, and the resulting object.
func TestRecreate(t *testing.T) {
	c := connectTo(t)
	ns := c.namespace(t, "recreate")
	first, second, third := named(deployment("replicas: 1"), "web"), named(deployment("replicas: 1\nminReadySeconds: 1"), "web"),
		named(deployment("replicas: 2\nstrategy: {type: Recreate}"), "web")
	fourth := named(deployment("replicas: 3\nstrategy: {type: Recreate}"), "web")
	if err := c.apply(t, bundleOf(ns, first)); err != nil {
		t.Fatal(err)
	}
	const at = "/apis/apps/v1/namespaces/recreate/deployments/web"
	step := func(text string, want ...string) {
		t.Helper()
		c.asked("")
		if err := c.apply(t, bundleOf(ns, text)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.asked(at)); diff != "" {
			t.Errorf("requests: -want, +got:\n%s", diff)
		}
	}
	step(second, "PATCH "+at+" 200")

	plan, err := c.engine.Plan(t.Context(), c, bundleOf(ns, third))
	if err != nil {
		t.Fatal(err)
	}
	want := []manifest.PlannedChange{{
		Key: cluster.ObjectRef{Group: "apps", Kind: "Deployment", Namespace: ns, Name: "web"}, Action: manifest.ActionUpdate,
		Fields: []string{"spec.minReadySeconds", "spec.replicas", "spec.strategy.rollingUpdate", "spec.strategy.type"},
	}}
	if diff := cmp.Diff(want, plan.Changes); diff != "" || len(plan.Problems) > 0 {
		t.Errorf("Plan: problems %v; -want, +got:\n%s", plan.Problems, diff)
	}
	before := c.live(t, ns, third)
	step(third, "PATCH "+at+" 422", "GET "+at+" 200", "PATCH "+at+" 200", "PATCH "+at+" 200")
	after := c.live(t, ns, third)
	if got := after.GetGeneration() - before.GetGeneration(); got != 1 {
		t.Errorf("want the content to change once, so that pods are replaced once; it changed %d times", got)
	}
	if diff := cmp.Diff(any(map[string]any{"type": "Recreate"}), strategyOf(t, c, ns, third)); diff != "" {
		t.Errorf("strategy: -want, +got:\n%s", diff)
	}
	if f := fieldsOf(after, manifest.DefaultFieldManager); strings.Contains(f, "rollingUpdate") || !strings.Contains(f, `"f:strategy":{"f:type":{}}`) {
		t.Errorf("want what is ours to be what is applied, got %s", f)
	}
	o, err := c.engine.Observe(t.Context(), c, bundleOf(ns, third))
	if err != nil || !o.UpToDate || len(o.Drift) > 0 {
		t.Errorf("want no drift after it, got %v, error %v", o.Drift, err)
	}
	step(fourth, "PATCH "+at+" 200")
}

// TestAnother checks that fields that another manager set are not cleared, and that the message names this manager.
func TestAnother(t *testing.T) {
	c := connectTo(t)
	ns := c.namespace(t, "another")
	first, second := named(deployment("replicas: 1"), "web"), named(deployment("strategy: {type: Recreate}"), "web")
	if err := c.apply(t, bundleOf(ns, first)); err != nil {
		t.Fatal(err)
	}
	c.applyAs(t, "tuner", ns, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {strategy: {rollingUpdate: {maxSurge: 3}}}")
	const want = "web: Deployment another/web: spec.strategy.rollingUpdate, which is owned by field manager tuner, cannot be combined with " +
		"spec.strategy.type Recreate; remove the field with that manager, or spec.strategy.type from the module"
	plan, err := c.engine.Plan(t.Context(), c, bundleOf(ns, second))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{want}, plan.Problems); diff != "" {
		t.Errorf("Plan: -want, +got:\n%s", diff)
	}
	for range 2 {
		if err := c.apply(t, bundleOf(ns, second)); err == nil || err.Error() != want {
			t.Errorf("want error %q, got %q", want, err)
		}
	}
	rolling := map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 3.0, "maxUnavailable": "25%"}}
	if diff := cmp.Diff(any(rolling), strategyOf(t, c, ns, second)); diff != "" {
		t.Errorf("strategy: -want, +got:\n%s", diff)
	}
}

// TestDrift checks that a repair also clears fields that the API server set after another manager chose a different member.
func TestDrift(t *testing.T) {
	c := connectTo(t)
	ns := c.namespace(t, "drift")
	text := named(deployment("strategy: {type: Recreate}"), "web")
	if err := c.apply(t, bundleOf(ns, text)); err != nil {
		t.Fatal(err)
	}
	c.applyAs(t, "chooser", ns, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {strategy: {type: RollingUpdate}}")
	var repaired []manifest.Drift
	eventually(t, "it is repaired", func() bool {
		r, err := c.engine.Apply(t.Context(), c, bundleOf(ns, text))
		if err != nil {
			t.Fatal(err)
		}
		repaired = append(repaired, r.Repaired...)
		return len(repaired) > 0
	})
	if diff := cmp.Diff([]string{"spec.strategy.type"}, repaired[0].Fields); diff != "" {
		t.Errorf("repaired: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(any(map[string]any{"type": "Recreate"}), strategyOf(t, c, ns, text)); diff != "" {
		t.Errorf("strategy: -want, +got:\n%s", diff)
	}
}

// TestRefusedAfterwards checks that an object that is also rejected for another reason does not change, and that its old
// version is not drift.
func TestRefusedAfterwards(t *testing.T) {
	c := connectTo(t)
	ns := c.namespace(t, "refused")
	first, wrong := named(deployment("replicas: 1"), "web"), named(deployment("replicas: -1\nstrategy: {type: Recreate}"), "web")
	if err := c.apply(t, bundleOf(ns, first)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := c.apply(t, bundleOf(ns, wrong))
		if err == nil || !strings.Contains(err.Error(), "spec.replicas") || strings.Contains(err.Error(), "strategy") {
			t.Errorf("want an error about the number only, got %v", err)
		}
	}
	if o, err := c.engine.Observe(t.Context(), c, bundleOf(ns, wrong)); err != nil || len(o.Drift) > 0 {
		t.Errorf("want no drift, got %v, error %v", o.Drift, err)
	}
	if err := c.apply(t, bundleOf(ns, first)); err != nil {
		t.Fatal(err)
	}
	rolling := map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}}
	if diff := cmp.Diff(any(rolling), strategyOf(t, c, ns, first)); diff != "" {
		t.Errorf("strategy: -want, +got:\n%s", diff)
	}
}
