// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// planMode is a patch that sets the mode of a Manifest to Plan.
const planMode = `{"spec":{"forProvider":{"mode":"Plan"}}}`

// newManifest creates a Manifest in a new namespace.
func newManifest(t *testing.T) *v1alpha1.Manifest {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	if err := admin.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: "web", Labels: map[string]string{"mine": "old"}}}
	m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "web", Source: v1alpha1.Source{
		Type: v1alpha1.SourceTypeHelmChart, URL: "https://charts.example.org", ChartName: "c", Version: "1.0.0",
	}}}
	if err := admin.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func manifestNow(t *testing.T, m *v1alpha1.Manifest) *v1alpha1.Manifest {
	t.Helper()
	out := &v1alpha1.Manifest{}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(m), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fileOf writes a file of a Manifest with another version.
func fileOf(t *testing.T, name, version string) string {
	t.Helper()
	text := `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Manifest
metadata: {name: ` + name + `, labels: {mine: new, also: this}}
spec: {forProvider: {installs: [{name: web, source: {type: helm-chart, url: https://charts.example.org, chartName: c, version: ` + version + `}}]}}
`
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// planner simulates the provider: it reports a plan for Manifests in mode Plan.
func planner(t *testing.T, m *v1alpha1.Manifest, p v1alpha1.PlanStatus) {
	t.Helper()
	eventually(t, "plan mode", func() bool {
		now := &v1alpha1.Manifest{}
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(m), now); err != nil || now.Spec.ForProvider.Mode != v1alpha1.ModePlan {
			return false
		}
		p.ObservedGeneration = now.Generation
		now.Status.AtProvider.Plan = &p
		return admin.Status().Update(t.Context(), now) == nil
	})
}

func onePlan() v1alpha1.PlanStatus {
	return v1alpha1.PlanStatus{Create: 1, Change: 1, Prune: 1, Message: "namespace a would be created", Objects: []v1alpha1.PlannedObject{
		{Action: "Create", ObjectReference: v1alpha1.ObjectReference{Kind: "Namespace", Name: "a"}},
		{
			Action: "Change", ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: "a", Name: "b"},
			Fields: []string{"data.k"}, OmittedFields: 2,
		},
	}}
}

// left returns the state of a Manifest after a plan.
type left struct {
	Version string
	Labels  map[string]string
	Mode    v1alpha1.Mode
}

func leftOf(m *v1alpha1.Manifest) left {
	return left{
		Version: m.Spec.ForProvider.Installs[0].Source.Version, Labels: m.Labels, Mode: m.Spec.ForProvider.Mode,
	}
}

func TestPlan(t *testing.T) {
	was := left{Version: "1.0.0", Labels: map[string]string{"mine": "old"}, Mode: v1alpha1.ModeApply}
	inFile := left{Version: "2.0.0", Labels: map[string]string{"mine": "new", "also": "this"}, Mode: v1alpha1.ModeApply}
	kept := inFile
	kept.Mode = v1alpha1.ModePlan
	problems := onePlan()
	problems.Problems, problems.Message = 1, "web: no"
	cases := map[string]struct {
		reason string
		file   bool
		args   []string
		plan   v1alpha1.PlanStatus
		code   command.ExitCode
		says   []string
		want   left
	}{
		"Named": {
			reason: "A plan restores the object.", args: []string{"manifest/web"}, plan: onePlan(),
			says: []string{
				"+ create Namespace a\n~ change ConfigMap a/b: data.k, …\n… and 1 more\n! namespace a would be created\n",
				": 1 to create, 1 to change, 1 to prune. Nothing was applied.",
			},
			want: was,
		},
		"File":     {reason: "A plan of a file restores the object.", file: true, plan: onePlan(), says: []string{"Nothing was applied"}, want: was},
		"Apply":    {reason: "--apply applies the plan.", file: true, args: []string{"--apply"}, plan: onePlan(), says: []string{"The provider is applying it"}, want: inFile},
		"Keep":     {reason: "--keep leaves the object in plan mode.", file: true, args: []string{"--keep", "-o", "json"}, plan: onePlan(), says: []string{`"result": "kept"`, `"namespace": "a",`}, want: kept},
		"Problems": {reason: "A plan with problems is a failure.", args: []string{"web"}, plan: problems, code: command.ExitFailure, says: []string{"! web: no"}, want: was},
		"ProblemsApply": {
			reason: "A plan with problems is not applied.", file: true, args: []string{"--apply"}, plan: problems,
			code: command.ExitFailure, says: []string{"was not applied"}, want: was,
		},
		"ExitCode":   {reason: "With --exit-code, changes have an exit code.", file: true, args: []string{"--exit-code"}, plan: onePlan(), code: command.ExitChanges, want: was},
		"ExitCodeNo": {reason: "With --exit-code, the code is 0 if there are no changes.", file: true, args: []string{"--exit-code"}, want: was},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManifest(t)
			args := append([]string{"plan"}, tc.args...)
			if tc.file {
				args = append(args, "-f", fileOf(t, "web", "2.0.0"))
			}
			s := start(t, "", long, m.Namespace, args...)
			planner(t, m, tc.plan)
			s.want(t, tc.code, tc.says...)
			if diff := cmp.Diff(tc.want, leftOf(manifestNow(t, m))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPlanNew(t *testing.T) {
	m := newManifest(t)
	next := m.DeepCopy()
	next.Name = "other"
	s := start(t, "", long, m.Namespace, "plan", "-f", fileOf(t, "other", "1.0.0"))
	eventually(t, "a draft", func() bool {
		return admin.Get(t.Context(), client.ObjectKeyFromObject(next), next) == nil && patch(t.Context(), next, `{"metadata":{"finalizers":["example.org/hold"]}}`) == nil
	})
	planner(t, next, onePlan())
	s.want(t, command.ExitOK, "Nothing was applied")
	// Objects that an earlier Manifest with this name has left in the cluster must stay.
	if got := manifestNow(t, next); got.DeletionTimestamp == nil || len(got.Spec.ManagementPolicies) != 1 || got.Spec.ManagementPolicies[0] != "Observe" {
		t.Errorf("deleting the draft must not delete anything in the target cluster: %+v, %v", got.ObjectMeta, got.Spec.ManagementPolicies)
	}
	if err := patch(t.Context(), next, `{"metadata":{"finalizers":[]}}`); err != nil {
		t.Fatal(err)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(next), next); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("an object that did not exist must not exist afterwards: %v", err)
	}
	s = start(t, "", long, m.Namespace, "plan", "--apply", "-f", fileOf(t, "other", "1.0.0"))
	planner(t, next, onePlan())
	s.want(t, command.ExitOK, "The provider is applying it")
	if got := leftOf(manifestNow(t, next)); got.Mode != v1alpha1.ModeApply {
		t.Errorf("got %+v", got)
	}
}

// TestPlanEnds checks that a plan restores the object on a timeout, and keeps changes of other clients.
func TestPlanEnds(t *testing.T) {
	m := newManifest(t)
	was := leftOf(manifestNow(t, m))
	timeOut(t, m.Namespace, "to be planned: the current spec has not been planned yet", "plan", "-f", fileOf(t, "web", "2.0.0"))
	if diff := cmp.Diff(was, leftOf(manifestNow(t, m))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	s := start(t, "", long, m.Namespace, "plan", "--apply", "-f", fileOf(t, "web", "2.0.0"))
	s.says(t, "the current spec has not been planned yet")
	if err := patch(t.Context(), manifestNow(t, m), `{"spec":{"forProvider":{"adoption":"Adopt"}}}`); err != nil {
		t.Fatal(err)
	}
	planner(t, m, onePlan())
	s.want(t, command.ExitFailure, "has changed since it was planned and stays in plan mode")
	if out := s.out.String(); !strings.Contains(out, "Nothing was applied.") || strings.Contains(out, "is applying it") {
		t.Errorf("the output must not say that the plan is applied, got\n%s", out)
	}
	if got := leftOf(manifestNow(t, m)); got.Mode != v1alpha1.ModePlan {
		t.Errorf("a change that was not planned must not be applied, got %+v", got)
	}
	// It was in mode Plan before, so it stays in this mode.
	kymactl(t, m.Namespace, "plan", "web").want(t, command.ExitOK, "Nothing was applied")
	kymactl(t, m.Namespace, "plan", "web", "--apply").want(t, command.ExitOK, "The provider is applying it")
	if got := leftOf(manifestNow(t, m)); got.Mode != v1alpha1.ModeApply {
		t.Errorf("got %+v", got)
	}
}

func TestPlanUsage(t *testing.T) {
	m := newManifest(t)
	k := addKyma(t, m.Namespace, "web")
	cases := map[string]struct {
		args []string
		in   string
		code command.ExitCode
		says string
	}{
		"Nothing":   {args: nil, code: command.ExitUsage, says: "use either the name"},
		"Both":      {args: []string{"web", "-f", "x"}, code: command.ExitUsage, says: "use either the name"},
		"Ambiguous": {args: []string{"web"}, code: command.ExitUsage, says: "use manifest/web or kyma/web"},
		"Kind":      {args: []string{"pod/web"}, code: command.ExitUsage, says: "use manifest/NAME"},
		"Missing":   {args: []string{"manifest/nope"}, code: command.ExitNotFound, says: "there is no Manifest nope"},
		"Neither":   {args: []string{"nope"}, code: command.ExitNotFound, says: "there is no Manifest or Kyma nope"},
		"Flags":     {args: []string{"web", "--apply", "--keep"}, code: command.ExitUsage, says: "cannot be used together"},
		"NoFile":    {args: []string{"-f", "/nope"}, code: command.ExitUsage, says: "--file"},
		"OtherKind": {args: []string{"-f", "-"}, in: "apiVersion: v1\nkind: Pod\n", code: command.ExitUsage, says: "use a Manifest or Kyma"},
		"NoObject":  {args: []string{"-f", "-"}, in: "- a\n", code: command.ExitUsage, says: "--file: -: expected a Kubernetes object"},
		"Several":   {args: []string{"-f", "-"}, in: "apiVersion: v1\n---\nkind: Pod\n", code: command.ExitUsage, says: "--file: -: more than one YAML document"},
		"NoName":    {args: []string{"-f", "-"}, in: "apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: Kyma\n", code: command.ExitUsage, says: "metadata.name is missing"},
		"NoSpec":    {args: []string{"-f", "-"}, in: "apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: Kyma\nmetadata: {name: a}\n", code: command.ExitUsage, says: "spec is missing"},
		"Invalid":   {args: []string{"-f", "-"}, in: "apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: Manifest\nmetadata: {name: a}\nspec: {}\n", code: command.ExitFailure, says: "forProvider"},
		"TestKind":  {args: []string{"test", "manifest/web", "--module", "m1"}, code: command.ExitUsage, says: "--module requires a Kyma"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := tc.args
			if len(args) == 0 || args[0] != "test" {
				args = append([]string{"plan"}, args...)
			}
			start(t, tc.in, long, m.Namespace, args...).want(t, tc.code, tc.says)
		})
	}
	if err := patch(t.Context(), k, `{"metadata":{"labels":{"crossplane.io/composite":"x"}}}`); err != nil {
		t.Fatal(err)
	}
	start(t, "apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: Kyma\nmetadata: {name: web}\nspec: {forProvider: {modules: []}}\n", long, m.Namespace, "plan", "-f", "-").
		want(t, command.ExitFailure, "plan the change there")
	kymactl(t, m.Namespace, "plan", "manifest/"+install(t, k, "m1").Name).want(t, command.ExitFailure, "is composed by Kyma web", "plan the change there")
	if err := patch(t.Context(), manifestNow(t, m), `{"spec":{"managementPolicies":["Observe"]}}`); err != nil {
		t.Fatal(err)
	}
	kymactl(t, m.Namespace, "plan", "manifest/web", "--apply").want(t, command.ExitUsage, "spec.managementPolicies")
}

// TestPlanKyma checks that the plan of a Kyma consists of the plans of its Manifests.
func TestPlanKyma(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2"})
	m1, gone := install(t, k, "m1"), install(t, k, "m9")
	s := start(t, "", long, k.Namespace, "plan", "kyma/k")
	s.says(t, "has not reconciled the current spec of the Kyma")
	none := is("m2", v1alpha1.StateError, "no template")
	none.Manifest = ""
	play(t, k, is("m1", v1alpha1.StateReady, ""), none)
	s.says(t, "m2: no template")
	m2 := install(t, k, "m2")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateReady, ""))
	for _, m := range []*v1alpha1.Manifest{m1, m2, gone} {
		if err := patch(t.Context(), m, planMode); err != nil {
			t.Fatal(err)
		}
		planner(t, m, onePlan())
	}
	s.want(t, command.ExitOK, "Manifest k-m1:\n", "Manifest k-m2:\n", "- module m9 with all its objects\n", ": 2 to create, 2 to change, 2 to prune")
	if got := current(t, k).Spec.ForProvider.Mode; got != v1alpha1.ModeApply {
		t.Errorf("the Kyma must be restored, got %q", got)
	}
}

// tester simulates the provider: it reports the results of the requested tests.
func tester(ctx context.Context, t *testing.T, m *v1alpha1.Manifest, state v1alpha1.State, tests ...v1alpha1.TestStatus) {
	t.Helper()
	eventually(t, "tests", func() bool {
		now := &v1alpha1.Manifest{}
		if err := admin.Get(ctx, client.ObjectKeyFromObject(m), now); err != nil || now.Annotations[v1alpha1.AnnotationTest] == "" {
			return false
		}
		now.Status.AtProvider.Tests = &v1alpha1.TestsStatus{Token: now.Annotations[v1alpha1.AnnotationTest], State: state, Tests: tests}
		return admin.Status().Update(ctx, now) == nil
	})
}

func TestTest(t *testing.T) {
	ok := v1alpha1.TestStatus{Install: "web", Kind: "Pod", Namespace: "a", Name: "one", State: v1alpha1.StateReady}
	runs := v1alpha1.TestStatus{Install: "web", Kind: "Pod", Namespace: "a", Name: "two", State: v1alpha1.StateProcessing}
	bad := v1alpha1.TestStatus{Install: "web", Kind: "Pod", Namespace: "a", Name: "two", State: v1alpha1.StateError, Message: "exit code 1"}
	m := newManifest(t)
	s := start(t, "", long, m.Namespace, "test", "manifest/web")
	tester(t.Context(), t, m, v1alpha1.StateProcessing, ok, runs)
	s.says(t, "Pod a/two is running")
	tester(t.Context(), t, m, v1alpha1.StateError, ok, bad)
	s.want(t, command.ExitFailure, "Pod a/one", "exit code 1", "tests of Manifest "+m.Namespace+"/web failed")

	first := manifestNow(t, m).Annotations[v1alpha1.AnnotationTest]
	s = start(t, "", long, m.Namespace, "test", "web", "-o", "json")
	s.says(t, "the tests have not started")
	tester(t.Context(), t, m, v1alpha1.StateReady, ok)
	s.want(t, command.ExitOK, `"state": "Ready"`)
	if manifestNow(t, m).Annotations[v1alpha1.AnnotationTest] == first {
		t.Error("each run must have its own token")
	}
	s = start(t, "", long, m.Namespace, "test", "web")
	s.says(t, "the tests have not started")
	tester(t.Context(), t, m, v1alpha1.StateReady)
	s.want(t, command.ExitOK, "has no tests")

	timeOut(t, m.Namespace, "to be tested", "test", "web")
	if err := patch(t.Context(), manifestNow(t, m), planMode); err != nil {
		t.Fatal(err)
	}
	kymactl(t, m.Namespace, "test", "web").want(t, command.ExitFailure, "is in plan mode")
}

func TestTestKyma(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2"})
	m1, m2 := install(t, k, "m1"), install(t, k, "m2")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateReady, ""))
	kymactl(t, k.Namespace, "test", "kyma/k", "--module", "m3").want(t, command.ExitNotFound, "m3 is not enabled")
	s := start(t, "", long, k.Namespace, "test", "kyma/k", "--module", "m2")
	tester(t.Context(), t, m2, v1alpha1.StateReady, v1alpha1.TestStatus{Install: "web", Kind: "Pod", Namespace: "a", Name: "one", State: v1alpha1.StateReady})
	s.want(t, command.ExitOK, "Pod a/one")
	if got := manifestNow(t, m1).Annotations[v1alpha1.AnnotationTest]; got != "" {
		t.Errorf("the other module must not be tested, got %q", got)
	}
	s = start(t, "", long, k.Namespace, "test", "kyma/k")
	s.says(t, "the tests have not started")
	tester(t.Context(), t, m1, v1alpha1.StateReady)
	tester(t.Context(), t, m2, v1alpha1.StateError)
	s.want(t, command.ExitFailure, "has no tests")
	if strings.Contains(s.err.String(), "Warning") {
		t.Error(s.err.String())
	}
}
