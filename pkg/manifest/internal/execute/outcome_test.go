// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

func finalize(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) }

// The result contains the outcome of each object.
func TestRunResult(t *testing.T) {
	set := func(manager, value string) func(w *world) {
		return func(w *world) { w.c.Set(manager, refOf(aConfig), value, "data", "a") }
	}
	contend := func(w *world) {
		for range ownership.MaxRepairs {
			set("kubectl-edit", "9")(w)
			w.runAll()
		}
		set("kubectl-edit", "9")(w)
	}
	type want struct {
		Created, Updated int
		Recreated        []string
		Repaired, Ceded  []string
		Installed        []string
		Hooks            int
		Log              []string
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
			reason: "A first installation creates everything.", pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig, other}, hooks: true}},
			want: want{
				Created: 2, Installed: []string{"web 2"}, Hooks: 2,
				Log: []string{"save", "pre web", "apply new ConfigMap apps/c", "apply new ConfigMap apps/o", "post web", "finish web", "save"},
			},
		},
		"Changed": {
			reason: "An upgrade changes what differs, and sends nothing else.", was: []string{aConfig, other}, pieces: next(aConfig2, other),
			want: want{Updated: 1, Installed: []string{"web 2"}, Log: update},
		},
		"Repaired": {
			reason: "Drift is repaired and reported with its fields. There is no save before that, because the inventory knows all objects.",
			was:    []string{aConfig}, before: set("kubectl-edit", "9"),
			want: want{Repaired: []string{"ConfigMap apps/c was changed at data.a"}, Log: []string{"apply ConfigMap apps/c"}},
		},
		"Deleted": {
			reason: "An object that others deleted is restored.", was: []string{aConfig}, before: func(w *world) { w.c.Finish(refOf(aConfig)) },
			want: want{Repaired: []string{"ConfigMap apps/c was deleted"}, Log: []string{"apply new ConfigMap apps/c", "save"}},
		},
		"Replaced": {
			reason: "An object that others replaced by another one of the bundle is reported as replaced.", was: []string{aConfig},
			before: func(w *world) {
				w.c.Finish(refOf(aConfig))
				w.c.Create("kubectl", strings.Replace(aConfig, "{name: c", "{labels: {applyset.kubernetes.io/part-of: "+worldSet+
					", operator.kyma-project.io/managed-by: provider-kyma}, name: c", 1))
			},
			want: want{Repaired: []string{"ConfigMap apps/c was replaced by another object"}, Log: []string{"apply ConfigMap apps/c", "save"}},
		},
		"Reported": {
			reason: "Another policy leaves drift as it is.", was: []string{aConfig},
			before: func(w *world) { set("kubectl-edit", "9")(w); w.drift = bundle.DriftReport },
		},
		"Paused": {
			reason: "An object that others delete repeatedly is restored after a pause.", was: []string{aConfig},
			before: func(w *world) {
				for range ownership.MaxRepairs {
					w.c.Finish(refOf(aConfig))
					w.runAll()
				}
				w.c.Finish(refOf(aConfig))
			},
		},
		"Resumed": {
			reason: "An object that others delete repeatedly is restored when the pause ends.", was: []string{aConfig},
			before: func(w *world) {
				for range ownership.MaxRepairs {
					w.c.Finish(refOf(aConfig))
					w.runAll()
				}
				w.c.Finish(refOf(aConfig))
				w.now = w.now.Add(ownership.RestoreInterval)
			},
			want: want{Repaired: []string{"ConfigMap apps/c was deleted"}, Log: []string{"apply new ConfigMap apps/c", "save"}},
		},
		"Ceded": {
			reason: "A field that others change repeatedly is ceded, and that is not reported as a repair.", was: []string{aConfig}, before: contend,
			want: want{Ceded: []string{"data.a to kubectl-edit true"}, Log: []string{"apply ConfigMap apps/c", "save"}},
		},
		"CededBefore": {
			reason: "A field that was already ceded is not reported again.", was: []string{aConfig},
			before: func(w *world) {
				contend(w)
				w.runAll()
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
			reason: "Another version of the bundle reclaims the field, and starts to count again.", was: []string{aConfig},
			before: func(w *world) { contend(w); w.runAll() }, pieces: next(aConfig2),
			want: want{
				Updated: 1, Installed: []string{"web 2"},
				Log: []string{"save", "apply unforced ConfigMap apps/c", "apply ConfigMap apps/c", "finish web", "save"},
			},
		},
		"Recreated": {
			reason: "An object with an immutable field is deleted after the inventory has forgotten it.", was: []string{aFixed},
			before: func(w *world) { w.recreate = true }, pieces: next(aFixed2),
			want: want{
				Updated: 1, Recreated: []string{"ConfigMap apps/f"}, Installed: []string{"web 2"},
				Log: []string{
					"save", "apply unforced ConfigMap apps/f", "save", "delete ConfigMap apps/f", "apply new ConfigMap apps/f", "finish web", "save",
				},
			},
		},
		"Forgotten": {
			reason: "A custom resource that a user deleted is not a change.",
			before: func(w *world) {
				w.pieces = []piece{{name: object.PartResource, digest: "1", objects: []string{aConfig}}}
				w.runAll()
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
				w.runAll()
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
			got := want{Created: r.Created, Updated: r.Updated, Installed: r.Installed, Hooks: r.HooksRun, Log: w.took()}
			for _, ref := range r.Recreated {
				got.Recreated = append(got.Recreated, ref.String())
			}
			for i := range r.Repaired {
				got.Repaired = append(got.Repaired, r.Repaired[i].String())
			}
			for _, y := range r.Ceded {
				got.Ceded = append(got.Ceded, y.Field+" to "+y.Manager+" "+map[bool]string{true: "true"}[y.Contended])
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
		// Forgotten is true if the stored inventory does not have the UID of the object.
		Forgotten bool
	}
	refuses := []string{"save", "apply unforced ConfigMap apps/f"}
	cases := map[string]struct {
		reason string
		before func(w *world)
		want   want
	}{
		"Unsaved": {
			reason: "If the inventory cannot be saved, nothing is deleted.", before: second("save", errors.New("conflict")),
			want: want{Log: append(refuses[:2:2], "save: conflict", "save"), Err: "web: conflict", Forgotten: true},
		},
		"Undeleted": {
			reason: "An object that cannot be deleted stays, and the next call finds it.", before: on("delete ConfigMap apps/f", forbidden),
			want: want{
				Log: append(refuses[:2:2], "save", "delete ConfigMap apps/f: "+forbidden.Error(), "save"),
				Err: `web: ConfigMap apps/f: configmaps "f" is forbidden: no`,
			},
		},
		"Uncreated": {
			reason: "An object that is deleted and cannot be created is reported as recreated.", before: on("apply new ConfigMap apps/f", forbidden),
			want: want{
				Log:       append(refuses[:2:2], "save", "delete ConfigMap apps/f", "apply new ConfigMap apps/f: "+forbidden.Error(), "save"),
				Recreated: 1, Err: `web: ConfigMap apps/f: configmaps "f" is forbidden: no`, Forgotten: true,
			},
		},
		"Finalizers": {
			reason: "An object that waits for finalizers is created by a later call.", before: func(w *world) { w.c.Edit("x", refOf(aFixed), finalize) },
			want: want{
				Log: append(refuses[:2:2], "save", "delete ConfigMap apps/f", "save"), Recreated: 1, Forgotten: true,
				Waiting: "ConfigMap apps/f: is being recreated: is being deleted, waiting for finalizer example.org/x",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aFixed}})
			w.runAll()
			w.recreate = true
			w.pieces = []piece{{name: "web", digest: "2", objects: []string{aFixed2}}}
			tc.before(w)
			r, err := w.run()
			got := want{Log: w.took(), Recreated: len(r.Recreated), Waiting: r.Waiting, Err: textOf(err), Forgotten: w.stored.Objects[0].UID == ""}
			// The last save stores the reasons.
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			w.meet = nil
			if w.c.Object(refOf(aFixed)) != nil && w.c.Object(refOf(aFixed)).GetDeletionTimestamp() != nil {
				w.c.Finish(refOf(aFixed))
			}
			w.runAll()
			if v, _, _ := unstructured.NestedString(w.c.Object(refOf(aFixed)).Object, "data", "a"); v != "2" {
				t.Errorf("\n%s\nin the end the object has %q", tc.reason, v)
			}
		})
	}
}

// An object that is being deleted is created once it is gone, and its part is finished after that.
func TestRunWaitsForDeletion(t *testing.T) {
	cases := map[string]struct {
		reason string
		part   object.PartID
		hooks  bool
		lost   bool
		want   string
		log    []string
	}{
		"Install": {reason: "No revision is recorded.", part: "web", log: []string{"save", "save"}},
		"Hooks":   {reason: "The last hooks do not run.", part: "web", hooks: true, log: []string{"save", "pre web", "save"}},
		"CRDs":    {reason: "Other parts are not up to date either.", part: object.PartCRDs, log: []string{"save", "save"}},
		"Lost": {
			reason: "An object that the inventory does not know is found when it is created.", part: "web", lost: true,
			log: []string{"save", "apply new ConfigMap apps/c", "save"}, want: "is being recreated: ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, piece{name: tc.part, digest: "1", objects: []string{aConfig}})
			w.runAll()
			w.c.Edit("x", refOf(aConfig), finalize)
			w.runAll()
			w.c.Delete(refOf(aConfig))
			w.pieces[0].digest, w.pieces[0].objects, w.pieces[0].hooks = "2", []string{aConfig2}, tc.hooks
			if tc.lost {
				w.stored = nil
			}
			r, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			if want := "ConfigMap apps/c: " + tc.want + "is being deleted, waiting for finalizer example.org/x"; r.Waiting != want {
				t.Errorf("\n%s\nRun(...): it waits for %q, want %q", tc.reason, r.Waiting, want)
			}
			if diff := cmp.Diff(tc.log, w.took()); diff != "" {
				t.Errorf("\n%s\nlog: -want, +got:\n%s", tc.reason, diff)
			}
			if got := w.stored.Parts[tc.part].Digest; got != "" {
				t.Errorf("\n%s\nthe part has digest %q", tc.reason, got)
			}
			w.c.Finish(refOf(aConfig))
			w.runAll()
		})
	}
}
