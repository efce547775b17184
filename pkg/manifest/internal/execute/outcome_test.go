// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

func finalize(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) }

// What became of each object is in the result.
func TestRunResult(t *testing.T) {
	set := func(manager, value string) func(w *world) {
		return func(w *world) { w.c.Set(manager, refOf(aConfig), value, "data", "a") }
	}
	contend := func(w *world) {
		for range ownership.MaxRepairs {
			set("kubectl-edit", "9")(w)
			w.settle()
		}
		set("kubectl-edit", "9")(w)
	}
	type want struct {
		Created, Changed  int
		Recreated         []string
		Repaired, Yielded []string
		Installed         []string
		Hooks             int
		Log               []string
	}
	next := func(objects ...string) []piece { return []piece{{name: "web", digest: "2", objects: objects}} }
	update := []string{"save", "apply unforced ConfigMap apps/c", "finish web", "save"}
	cases := map[string]struct {
		reason string
		was    []string
		before func(w *world)
		pieces []piece
		want   want
	}{
		"Created": {
			reason: "A first installation creates all.", pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig, other}, hooks: true}},
			want: want{
				Created: 2, Installed: []string{"web 2"}, Hooks: 2,
				Log: []string{"save", "pre web", "apply new ConfigMap apps/c", "apply new ConfigMap apps/o", "post web", "finish web", "save"},
			},
		},
		"Changed": {
			reason: "An upgrade changes what differs, and sends nothing else.", was: []string{aConfig, other}, pieces: next(aConfig2, other),
			want: want{Changed: 1, Installed: []string{"web 2"}, Log: update},
		},
		"Repaired": {
			reason: "Drift is repaired with the names of the fields, without a save before it, as the inventory knows all.",
			was:    []string{aConfig}, before: set("kubectl-edit", "9"),
			want: want{Repaired: []string{"ConfigMap apps/c was changed at data.a"}, Log: []string{"apply ConfigMap apps/c"}},
		},
		"Deleted": {
			reason: "An object that others deleted is restored.", was: []string{aConfig}, before: func(w *world) { w.c.Finish(refOf(aConfig)) },
			want: want{Repaired: []string{"ConfigMap apps/c was deleted"}, Log: []string{"apply new ConfigMap apps/c", "save"}},
		},
		"Replaced": {
			reason: "One that others replaced by one of ours is told of as that.", was: []string{aConfig},
			before: func(w *world) {
				w.c.Finish(refOf(aConfig))
				w.c.Create("kubectl", strings.Replace(aConfig, "{name: c", "{labels: {applyset.kubernetes.io/part-of: "+worldSet+
					", operator.kyma-project.io/managed-by: provider-kyma}, name: c", 1))
			},
			want: want{Repaired: []string{"ConfigMap apps/c was replaced by another one"}, Log: []string{"apply ConfigMap apps/c", "save"}},
		},
		"Reported": {
			reason: "Another policy leaves drift as it is.", was: []string{aConfig},
			before: func(w *world) { set("kubectl-edit", "9")(w); w.drift = bundle.DriftReport },
		},
		"Paused": {
			reason: "An object that others delete again and again is restored after a pause.", was: []string{aConfig},
			before: func(w *world) {
				for range ownership.MaxRepairs {
					w.c.Finish(refOf(aConfig))
					w.settle()
				}
				w.c.Finish(refOf(aConfig))
			},
		},
		"Resumed": {
			reason: "The pause ends.", was: []string{aConfig},
			before: func(w *world) {
				for range ownership.MaxRepairs {
					w.c.Finish(refOf(aConfig))
					w.settle()
				}
				w.c.Finish(refOf(aConfig))
				w.now = w.now.Add(ownership.RestoreInterval)
			},
			want: want{Repaired: []string{"ConfigMap apps/c was deleted"}, Log: []string{"apply new ConfigMap apps/c", "save"}},
		},
		"Ceded": {
			reason: "A field that others take again and again is ceded, and that is no repair.", was: []string{aConfig}, before: contend,
			want: want{Yielded: []string{"data.a to kubectl-edit true"}, Log: []string{"apply ConfigMap apps/c", "save"}},
		},
		"CededBefore": {
			reason: "What was ceded before is not told of again.", was: []string{aConfig},
			before: func(w *world) {
				contend(w)
				w.settle()
				w.c.Edit("kubectl-edit", refOf(aConfig), func(u *unstructured.Unstructured) {
					u.SetLabels(map[string]string{object.LabelManagedBy: object.DefaultManagedBy})
				})
			},
			want: want{
				Repaired: []string{"ConfigMap apps/c was changed at metadata.labels.applyset.kubernetes.io/part-of"},
				Log:      []string{"apply ConfigMap apps/c"},
			},
		},
		"Restarted": {
			reason: "Another version of the bundle takes the field again, and begins to count anew.", was: []string{aConfig},
			before: func(w *world) { contend(w); w.settle() }, pieces: next(aConfig2),
			want: want{
				Changed: 1, Installed: []string{"web 2"},
				Log: []string{"save", "apply unforced ConfigMap apps/c", "apply ConfigMap apps/c", "finish web", "save"},
			},
		},
		"Recreated": {
			reason: "An object with a field that cannot change is deleted after the inventory has forgotten it.", was: []string{aFixed},
			before: func(w *world) { w.recreate = true }, pieces: next(aFixed2),
			want: want{
				Changed: 1, Recreated: []string{"ConfigMap apps/f"}, Installed: []string{"web 2"},
				Log: []string{
					"save", "apply unforced ConfigMap apps/f", "save", "delete ConfigMap apps/f", "apply new ConfigMap apps/f", "finish web", "save",
				},
			},
		},
		"Forgotten": {
			reason: "What a user deleted of the custom resource is not a change.",
			before: func(w *world) {
				w.pieces = []piece{{name: object.PartResource, digest: "1", objects: []string{aConfig}}}
				w.settle()
				w.c.Finish(refOf(aConfig))
			},
			pieces: []piece{{name: object.PartResource, digest: "2", objects: []string{aConfig2}}},
			want:   want{Log: []string{"save", "save"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.was != nil {
				w.pieces = []piece{{name: "web", digest: "1", objects: tc.was}}
				w.settle()
			}
			if tc.before != nil {
				tc.before(w)
			}
			if tc.pieces != nil {
				w.pieces = tc.pieces
			}
			w.took()
			r, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			got := want{Created: r.Created, Changed: r.Changed, Installed: r.Installed, Hooks: r.HooksRun, Log: w.took()}
			for _, ref := range r.Recreated {
				got.Recreated = append(got.Recreated, ref.String())
			}
			for i := range r.Repaired {
				got.Repaired = append(got.Repaired, r.Repaired[i].String())
			}
			for _, y := range r.Yielded {
				got.Yielded = append(got.Yielded, y.Field+" to "+y.Manager+" "+map[bool]string{true: "true"}[y.Fought])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An object is deleted only after the inventory has forgotten it, and waits for its finalizers.
func TestRunRecreates(t *testing.T) {
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "f", errors.New("no"))
	second := func(line string, err error) func(w *world) {
		return func(w *world) {
			n := 0
			w.meet = func(l string) error {
				if l == line {
					n++
				}
				if l == line && n == 2 {
					return err
				}
				return nil
			}
		}
	}
	type want struct {
		Log       []string
		Recreated int
		Waiting   string
		Err       string
		// Forgotten is true where the stored inventory does not know which object it was.
		Forgotten bool
	}
	refuses := []string{"save", "apply unforced ConfigMap apps/f"}
	cases := map[string]struct {
		reason string
		before func(w *world)
		want   want
	}{
		"Unsaved": {
			reason: "If that cannot be saved, nothing is deleted.", before: second("save", errors.New("conflict")),
			want: want{Log: append(refuses[:2:2], "save: conflict", "save"), Err: "web: conflict", Forgotten: true},
		},
		"Undeleted": {
			reason: "What cannot be deleted stays, and is looked for by the next call.", before: on("delete ConfigMap apps/f", forbidden),
			want: want{
				Log: append(refuses[:2:2], "save", "delete ConfigMap apps/f: "+forbidden.Error()),
				Err: `web: ConfigMap apps/f: ConfigMap apps/f: configmaps "f" is forbidden: no`, Forgotten: true,
			},
		},
		"Uncreated": {
			reason: "What is deleted and cannot be created is told of as recreated.", before: on("apply new ConfigMap apps/f", forbidden),
			want: want{
				Log:       append(refuses[:2:2], "save", "delete ConfigMap apps/f", "apply new ConfigMap apps/f: "+forbidden.Error()),
				Recreated: 1, Err: `web: ConfigMap apps/f: configmaps "f" is forbidden: no`, Forgotten: true,
			},
		},
		"Finalizers": {
			reason: "An object that waits for finalizers is created by a later call.", before: func(w *world) { w.c.Edit("x", refOf(aFixed), finalize) },
			want: want{
				Log: append(refuses[:2:2], "save", "delete ConfigMap apps/f"), Recreated: 1, Forgotten: true,
				Waiting: "ConfigMap apps/f: is being recreated: is being deleted and waits for finalizer example.org/x",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aFixed}})
			w.settle()
			w.recreate = true
			w.pieces = []piece{{name: "web", digest: "2", objects: []string{aFixed2}}}
			tc.before(w)
			r, err := w.run()
			got := want{Log: w.took(), Recreated: len(r.Recreated), Waiting: r.Waiting, Err: textOf(err), Forgotten: w.stored.Objects[0].UID == ""}
			// The last save is of the reasons.
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			w.meet = nil
			if w.c.Object(refOf(aFixed)) != nil && w.c.Object(refOf(aFixed)).GetDeletionTimestamp() != nil {
				w.c.Finish(refOf(aFixed))
			}
			w.settle()
			if v, _, _ := unstructured.NestedString(w.c.Object(refOf(aFixed)).Object, "data", "a"); v != "2" {
				t.Errorf("\n%s\nin the end the object has %q", tc.reason, v)
			}
		})
	}
}

// An object that is being deleted is created once it is gone, and its part is finished after that.
func TestRunWaitsForDeletion(t *testing.T) {
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}})
	w.settle()
	w.c.Edit("x", refOf(aConfig), finalize)
	w.settle()
	w.c.Delete(refOf(aConfig))
	w.pieces[0].digest, w.pieces[0].objects = "2", []string{aConfig2}
	r, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	if want := "ConfigMap apps/c: is being deleted and waits for finalizer example.org/x"; r.Waiting != want {
		t.Errorf("Run(...): it waits for %q, want %q", r.Waiting, want)
	}
	if diff := cmp.Diff([]string{"save"}, w.took()); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
	w.c.Finish(refOf(aConfig))
	w.settle()
}

// Tests run once all is up to date, and not before.
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
		err     string
	}{
		"Applied":  {reason: "A run that ends runs the tests.", tested: true},
		"Upgraded": {reason: "So does one that applies something before.", pieces: next, tested: true, over: true},
		"Waits":    {reason: "A test that runs is waited for.", tested: true, waiting: "test x is running"},
		"Fails":    {reason: "What goes wrong on the way is an error.", tested: true, answer: errors.New("no\npods"), err: "tests: no pods"},
		"Failed":   {reason: "A part that failed is not tested, nor any other.", pieces: next, before: on("apply new ConfigMap apps/o", errDied), err: "web: ConfigMap apps/o: died"},
		"Waiting": {
			reason: "Nor is a bundle that waits for something.", pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig}, hooks: true}},
			before: func(w *world) { w.waits["post web"] = "hook" }, waiting: "hook",
		},
		"Pruning": {
			reason: "Nor one from which something cannot be deleted.", pieces: []piece{},
			before: on("delete ConfigMap apps/c", errDied), err: "pruning: ConfigMap apps/c: died",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}})
			w.settle()
			if tc.pieces != nil {
				w.pieces = tc.pieces
			}
			if tc.before != nil {
				tc.before(w)
			}
			tested := false
			w.test = func(context.Context) (string, error) {
				tested = true
				if tc.over {
					w.last.Inventory.Tests = &inventory.Tests{Over: true, Tests: []inventory.TestState{{Part: "web", Name: "x"}}}
				}
				return tc.waiting, tc.answer
			}
			r, err := w.run()
			if tested != tc.tested || r.Waiting != tc.waiting || textOf(err) != tc.err || (len(r.Tested) > 0) != tc.over {
				t.Errorf("\n%s\nRun(...): tested %t, waits for %q, error %q, %v", tc.reason, tested, r.Waiting, textOf(err), r.Tested)
			}
		})
	}
}

// The reasons of a call that cannot prune are those of that.
func TestRunKeepsPruneError(t *testing.T) {
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig}})
	w.settle()
	w.pieces = nil
	on("delete ConfigMap apps/c", errors.New("no\nway"))(w)
	if _, err := w.run(); err == nil {
		t.Error("Run(...): nothing failed")
	}
	if want := "ConfigMap apps/c: no way"; w.why.Waiting != want {
		t.Errorf("reasons: %q, want %q", w.why.Waiting, want)
	}
}

// Objects of one stage are applied at the same time, up to a limit, and each outcome is that of its object.
func TestRunConcurrently(t *testing.T) {
	var objects []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		objects = append(objects, strings.Replace(aConfig, "name: c", "name: "+name, 1))
	}
	w := newWorld(t, piece{name: "web", digest: "1", objects: objects})
	w.concurrency = 4
	w.settle()
	for i := range w.stored.Objects {
		en := &w.stored.Objects[i]
		if u := w.c.Object(en.Ref()); u == nil || string(u.GetUID()) != en.UID {
			t.Errorf("%s: the inventory has UID %q", en.Ref(), en.UID)
		}
	}
}
