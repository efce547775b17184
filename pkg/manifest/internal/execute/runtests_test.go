// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// Tests run once everything is up to date, and not earlier.
func TestRunTests(t *testing.T) {
	next := []piece{{name: "web", digest: "2", objects: []string{aConfig2, other}}}
	cases := map[string]struct {
		reason  string
		pieces  []piece
		before  func(w *world)
		answer  error
		waiting string
		tested  bool
		over    bool
		begun   bool
		err     string
	}{
		"Applied":  {reason: "A run that completes runs the tests.", tested: true},
		"Upgraded": {reason: "A run that first applies something runs the tests, too.", pieces: next, tested: true, over: true},
		"Waits":    {reason: "A running test is waited for.", tested: true, waiting: "test x is running"},
		"Fails":    {reason: "If a test cannot be run, the call returns an error.", tested: true, answer: errors.New("no\npods"), err: "tests: no pods"},
		"Failed":   {reason: "If a part failed, no tests run.", pieces: next, before: on("apply new ConfigMap apps/o", errDied), err: "web: ConfigMap apps/o: died"},
		"Waiting": {
			reason: "If the bundle waits for something, no tests run.", pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig}, hooks: true}},
			before: func(w *world) { w.waits["post web"] = "hook" }, waiting: "hook",
		},
		"Runs": {reason: "Tests that have not ended are not reported.", tested: true, begun: true},
		"Blocked": {
			reason: "If the bundle waits for an object to be gone, no tests run.", pieces: []piece{}, before: func(w *world) { w.c.Edit("x", refOf(aConfig), finalize) },
			waiting: "ConfigMap apps/c waits",
		},
		"HandedOver": {
			reason: "If a part takes over a CRD of a removed part and has to be applied again, no tests run.",
			before: func(w *world) {
				w.pieces = append(w.pieces, piece{name: "db", digest: "1", objects: []string{aCRD}})
				w.runAll()
				rec := w.stored.Parts["web"]
				rec.Shared = []string{"widgets.example.org"}
				w.stored.Parts["web"] = rec
				w.pieces = w.pieces[:1]
			},
		},
		"Pruning": {
			reason: "If something cannot be deleted, no tests run.", pieces: []piece{},
			before: on("delete ConfigMap apps/c", errDied), err: "pruning: ConfigMap apps/c: died",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}})
			w.runAll()
			if tc.pieces != nil {
				w.pieces = tc.pieces
			}
			if tc.before != nil {
				tc.before(w)
			}
			tested := false
			w.test = func(context.Context, TestInput) (Tested, error) {
				tested = true
				out := Tested{Standing: hook.Standing{Progress: hook.Passed}}
				if tc.waiting != "" {
					out.Standing = hook.Standing{Progress: hook.Due, Message: tc.waiting}
				}
				if tc.over || tc.begun {
					out.Tests = &inventory.Tests{Over: tc.over, Tests: []inventory.TestRecord{{Part: "web", Name: "x"}}}
				}
				return out, tc.answer
			}
			r, err := w.run()
			if tested != tc.tested || r.Waiting != tc.waiting || textOf(err) != tc.err || (len(r.Tested) > 0) != tc.over {
				t.Errorf("\n%s\nRun(...): tested %t, waits for %q, error %q, %v", tc.reason, tested, r.Waiting, textOf(err), r.Tested)
			}
		})
	}
}

// If a call cannot prune, its reasons say so.
func TestRunKeepsPruneError(t *testing.T) {
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}})
	w.runAll()
	w.pieces = nil
	on("delete ConfigMap apps/c", errors.New("no\nway"))(w)
	if _, err := w.run(); err == nil {
		t.Error("Run(...): nothing failed")
	}
	if diff := cmp.Diff(&inventory.Reasons{Pruning: "ConfigMap apps/c: no way"}, w.last.Inventory.Last); diff != "" {
		t.Errorf("Run(...): reasons: -want, +got:\n%s", diff)
	}
}

// Objects of one stage are applied at the same time, up to a limit, and each outcome belongs to its object.
func TestRunConcurrently(t *testing.T) {
	var objects []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		objects = append(objects, strings.Replace(aConfig, "name: c", "name: "+name, 1))
	}
	w := newWorld(t, piece{name: "web", digest: "1", objects: objects})
	w.concurrency = 4
	w.runAll()
	for i := range w.stored.Objects {
		en := &w.stored.Objects[i]
		if u := w.c.Object(en.Ref()); u == nil || string(u.GetUID()) != en.UID {
			t.Errorf("%s: the inventory has UID %q", en.Ref(), en.UID)
		}
	}
}

// A repair does not wait for hooks of another part, and is made once, although stages are applied again after hooks.
func TestRunRepairsBesideHooks(t *testing.T) {
	namespace := strings.Replace(aNamespace, "{name: new", `{annotations: {a: "1"}, name: new`, 1)
	w := newWorld(t, piece{name: "top", digest: "1", objects: []string{other}}, piece{name: "web", digest: "1", objects: []string{aConfig, namespace}})
	w.runAll()
	drifts := func() {
		w.c.Set("kubectl-edit", refOf(aConfig), "9", "data", "a")
		w.c.Set("kubectl-edit", refOf(namespace), "9", "metadata", "annotations", "a")
	}
	drifts()
	w.pieces[0].digest, w.pieces[0].hooks = "2", true
	w.waits["pre top"] = "hook"
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"save", "apply Namespace new", "pre top", "apply ConfigMap apps/c", "save"}, w.took()); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
	drifts()
	delete(w.waits, "pre top")
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apply Namespace new", "pre top", "apply ConfigMap apps/c", "post top", "finish top", "save"}, w.took()); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

// Fields that the engine owns since a run that was cut off are not drift.
func TestRunRecordsOwned(t *testing.T) {
	recreate := strings.Replace(aDeploy, "replicas: 1", "replicas: 1, strategy: {type: Recreate}", 1)
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aDeploy}})
	w.runAll()
	w.pieces[0].digest, w.pieces[0].objects = "2", []string{recreate}
	n := 0
	w.meet = func(line string) error {
		if line == "apply unforced Deployment apps/d" {
			n++
		}
		if n == 2 {
			return kerrors.NewServiceUnavailable("later")
		}
		return nil
	}
	if _, err := w.run(); err == nil {
		t.Fatal("Run(...): nothing failed")
	}
	w.meet = nil
	// The last save was cut off, too.
	w.stored = w.last.Inventory.Clone()
	p := w.build()
	if drifted := plan.FindDrifted(p.Inventory, p.Objects, nil, w.target().ID, w.now); len(drifted) > 0 {
		t.Errorf("it counts as drift: %v", drifted)
	}
	w.runAll()
}

func TestNewlyCeded(t *testing.T) {
	field := func(name string, since int64) ownership.Ceded {
		return ownership.Ceded{Path: `{"f:spec":{"f:` + name + `":{}}}`, Manager: "x", Since: since}
	}
	cases := map[string]struct {
		reason      string
		before, now []ownership.Ceded
		want        []string
	}{
		"First":     {reason: "A field is ceded.", now: []ownership.Ceded{field("a", 0)}, want: []string{"spec.a"}},
		"Again":     {reason: "A field that was ceded before is not ceded again.", before: []ownership.Ceded{field("a", 0)}, now: []ownership.Ceded{field("a", 0)}},
		"Another":   {reason: "Another field was ceded before.", before: []ownership.Ceded{field("a", 0)}, now: []ownership.Ceded{field("a", 0), field("b", 0)}, want: []string{"spec.b"}},
		"Contended": {reason: "A field that was ceded for another reason is ceded again.", before: []ownership.Ceded{field("a", 0)}, now: []ownership.Ceded{field("a", 5)}, want: []string{"spec.a"}},
		"Renewed":   {reason: "A contention continues.", before: []ownership.Ceded{field("a", 4)}, now: []ownership.Ceded{field("a", 5)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, y := range newlyCeded(refOf(aConfig), tc.before, tc.now) {
				got = append(got, y.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nnewlyCeded(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
