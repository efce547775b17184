// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestRunPrunes(t *testing.T) {
	first := []piece{{name: "web", digest: "1", objects: []string{aConfig, aDeploy, aFixed}}, {name: "db", digest: "1", objects: []string{other}}}
	next := piece{name: "web", digest: "2", objects: []string{aConfig}}
	db := first[1]
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "f", errors.New("no"))
	type want struct {
		Log     []string
		Pruned  []string
		Waiting string
		Err     string
		// Left are the objects of the inventory afterwards.
		Left []string
	}
	cases := map[string]struct {
		reason string
		pieces []piece
		before func(w *world)
		want   want
	}{
		"Objects": {
			reason: "Objects that a part no longer contains are pruned after its revision is recorded, the last stage first.",
			pieces: []piece{next, db},
			want: want{
				Log:    []string{"save", "finish web", "delete Deployment apps/d", "delete ConfigMap apps/f", "save"},
				Pruned: []string{"ConfigMap apps/f", "Deployment apps/d"}, Left: []string{"ConfigMap apps/c", "ConfigMap apps/o"},
			},
		},
		"Part": {
			reason: "A part that the bundle no longer contains is pruned, with its releases.",
			pieces: first[:1],
			want: want{
				Log: []string{"delete ConfigMap apps/o", "forget db", "save"}, Pruned: []string{"ConfigMap apps/o"},
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "Deployment apps/d"},
			},
		},
		"Incomplete": {
			reason: "Nothing is pruned while a part cannot be rendered: it may contain what another one no longer contains.",
			pieces: []piece{next, {name: "db", digest: "2", fails: errors.New("no chart")}},
			want: want{
				Log: []string{"save", "finish web", "save"}, Waiting: "pruning is paused until all installs can be rendered", Err: "db: no chart",
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "ConfigMap apps/o", "Deployment apps/d"},
			},
		},
		"Failed": {
			reason: "Nothing of a part that fails is pruned, because the old objects may still be needed; another part that was removed is pruned.",
			pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig2}}},
			before: on("apply unforced ConfigMap apps/c", forbidden),
			want: want{
				Log: []string{
					"save", "apply unforced ConfigMap apps/c: " + forbidden.Error(), "delete ConfigMap apps/o", "forget db", "save",
				},
				Pruned: []string{"ConfigMap apps/o"}, Err: `web: ConfigMap apps/c: configmaps "f" is forbidden: no`,
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "Deployment apps/d"},
			},
		},
		"BeforeHooks": {
			reason: "Objects that the new revision no longer contains are pruned before its last hooks run.",
			pieces: []piece{{name: "web", digest: "2", objects: []string{aConfig}, hooks: true}, db},
			want: want{
				Log: []string{
					"save", "pre web", "delete Deployment apps/d", "delete ConfigMap apps/f", "post web", "finish web", "save",
				},
				Pruned: []string{"ConfigMap apps/f", "Deployment apps/d"}, Left: []string{"ConfigMap apps/c", "ConfigMap apps/o"},
			},
		},
		"Refused": {
			reason: "A failed deletion is not an error of a part, and the object stays in the inventory.",
			pieces: []piece{next, db},
			before: on("delete ConfigMap apps/f", forbidden),
			want: want{
				Log: []string{
					"save", "finish web", "delete Deployment apps/d", "delete ConfigMap apps/f: " + forbidden.Error(), "save",
				},
				Pruned: []string{"Deployment apps/d"}, Err: `pruning: ConfigMap apps/f: configmaps "f" is forbidden: no`,
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "ConfigMap apps/o"},
			},
		},
		"Waits": {
			reason: "An object with finalizers is waited for, and so is its part.",
			pieces: first[:1],
			before: func(w *world) {
				w.c.Edit("x", refOf(other), func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) })
			},
			want: want{
				Log: []string{"delete ConfigMap apps/o", "save"}, Waiting: "ConfigMap apps/o waits",
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "ConfigMap apps/o", "Deployment apps/d"},
			},
		},
		"OthersWait": {
			reason: "A part whose objects are gone is dropped, whatever else is waited for.",
			pieces: first[:1],
			before: func(w *world) { w.waits["prune"] = "x" },
			want: want{
				Log: []string{"delete ConfigMap apps/o", "forget db", "save"}, Pruned: []string{"ConfigMap apps/o"}, Waiting: "x",
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "Deployment apps/d"},
			},
		},
		"DeleteHooks": {
			reason: "A part whose last hooks may still have to run is not dropped.",
			pieces: first[:1],
			before: func(w *world) {
				rec := w.stored.Parts["db"]
				rec.DeleteHooks = true
				w.stored.Parts["db"] = rec
				w.waits["prune"] = "x"
			},
			want: want{
				Log: []string{"delete ConfigMap apps/o", "save"}, Pruned: []string{"ConfigMap apps/o"}, Waiting: "x",
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "Deployment apps/d"},
			},
		},
		"Unforgotten": {
			reason: "A part whose records cannot be deleted stays in the inventory.",
			pieces: first[:1],
			before: on("forget db", errors.New("no\nway")),
			want: want{
				Log: []string{"delete ConfigMap apps/o", "forget db: no\nway", "save"}, Pruned: []string{"ConfigMap apps/o"}, Err: "pruning: no way",
				Left: []string{"ConfigMap apps/c", "ConfigMap apps/f", "Deployment apps/d"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, first...)
			w.runAll()
			w.pieces = tc.pieces
			if tc.before != nil {
				tc.before(w)
			}
			r, err := w.run()
			got := want{Log: w.took(), Waiting: r.Waiting, Err: textOf(err)}
			for _, ref := range r.Pruned {
				got.Pruned = append(got.Pruned, ref.String())
			}
			for i := range w.stored.Objects {
				ref := w.stored.Objects[i].Ref()
				got.Left = append(got.Left, ref.String())
			}
			slices.Sort(got.Pruned)
			slices.Sort(got.Left)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			_, stays := w.stored.Parts["db"]
			if want := slices.ContainsFunc(tc.pieces, func(p piece) bool { return p.name == "db" }) || slices.Contains([]string{"Waits", "DeleteHooks", "Unforgotten"}, name); stays != want {
				t.Errorf("\n%s\npart db is in the inventory: %t", tc.reason, stays)
			}
		})
	}
}
