// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

func changesOf(s plan.Summary) []string {
	var out []string
	for _, c := range s.Changes {
		line := string(c.Action) + " " + c.Key.String()
		if len(c.Fields) > 0 {
			line += " " + strings.Join(c.Fields, ",")
		}
		out = append(out, line)
	}
	return out
}

func TestDryRun(t *testing.T) {
	was := []piece{{name: "web", digest: "1", objects: []string{aConfig, aDeploy, aFixed}}, {name: "db", digest: "1", objects: []string{other}}}
	db := was[1]
	fresh := `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: new}}`
	keep := strings.Replace(other, "{name: o", `{annotations: {helm.sh/resource-policy: keep}, name: o`, 1)
	web := func(objects ...string) piece { return piece{name: "web", digest: "2", objects: objects} }
	try := func(line string, err error) func(w *world) {
		return func(w *world) {
			w.c.Meet = func(l string) error {
				if l == line {
					return err
				}
				return nil
			}
		}
	}
	type want struct {
		Changes, Problems, Notes []string
		Err                      string
	}
	cases := map[string]struct {
		reason string
		was    []piece
		before func(w *world)
		pieces []piece
		want   want
	}{
		"Nothing": {reason: "What is up to date needs nothing.", pieces: was},
		"First": {
			reason: "A first installation creates all, also what needs kinds and namespaces of its own.", was: []piece{},
			pieces: []piece{web(aWidget, fresh, aCRD, aNamespace)},
			want: want{Changes: []string{
				"Create Namespace new", "Create CustomResourceDefinition widgets.example.org", "Create ConfigMap new/x", "Create Widget apps/w",
			}},
		},
		"Upgrade": {
			reason: "What is changed, recreated, created and pruned is told of in the order of the stages; fields are named.",
			before: func(w *world) { w.recreate = true }, pieces: []piece{web(aConfig2, aFixed2, aNamespace)},
			want: want{Changes: []string{
				"Create Namespace new", "Change ConfigMap apps/c data.a", "Recreate ConfigMap apps/f data", "Prune Deployment apps/d", "Prune ConfigMap apps/o",
			}},
		},
		"Refused": {
			reason: "What the API server refuses is a problem of the part, and the rest is told of nevertheless.",
			pieces: []piece{web(aConfig, aDeploy, aFixed2), {name: "db", digest: "2", objects: []string{aNamespace, other}}},
			want: want{
				Changes: []string{"Create Namespace new"},
				Problems: []string{
					"web: ConfigMap apps/f: data cannot be changed (field is immutable when `immutable` is set); set recreate to have it deleted and created anew",
				},
			},
		},
		"CRDInvalid": {
			reason: "A CRD that nothing was known of, and that would make objects invalid, is a problem as well.", was: []piece{},
			before: func(w *world) {
				w.adoption = ownership.AdoptUnowned
				w.c.Create("kubectl", strings.Replace(aCRD, "storage: true", "storage: true, schema: {openAPIV3Schema: {type: object}}", 1))
				w.c.Create("kubectl", aWidget)
			},
			pieces: []piece{web(strings.Replace(aCRD, "storage: true", "storage: true, schema: {openAPIV3Schema: {type: object, required: [spec]}}", 1))},
			want: want{Problems: []string{
				"web: CustomResourceDefinition widgets.example.org: 1 of 1 objects would be invalid with the new definition in version v1: " +
					"Widget apps/w (spec: required value); change them first",
			}},
		},
		"Outage": {
			reason: "Where the cluster cannot be asked, nothing is known.", pieces: []piece{web(aConfig2)},
			before: try("try apply ConfigMap apps/c", kerrors.NewServiceUnavailable("later")), want: want{Err: "ConfigMap apps/c: later"},
		},
		"Untriable": {
			reason: "What cannot be tried is noted.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: try("try apply ConfigMap apps/c", kerrors.NewBadRequest("admission webhook x does not support dry run")),
			want: want{
				Changes: []string{"Change ConfigMap apps/c"},
				Notes:   []string{"ConfigMap apps/c cannot be tried: admission webhook x does not support dry run"},
			},
		},
		"Unrendered": {
			reason: "A part that cannot be rendered is a problem, and nothing is pruned.",
			pieces: []piece{web(aConfig), {name: "db", digest: "2", fails: errors.New("no\nchart")}},
			want: want{
				Problems: []string{"db: no chart"}, Notes: []string{"nothing is pruned until all installs can be rendered"},
			},
		},
		"Deleting": {
			reason: "What is being deleted is created again after that.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: func(w *world) { w.c.Edit("x", refOf(aConfig), finalize); w.c.Delete(refOf(aConfig)) },
			want:   want{Changes: []string{"Create ConfigMap apps/c"}},
		},
		"Kept": {
			reason: "What stays is not pruned: what is kept, what is of others, and what goes already.",
			was:    []piece{was[0], {name: "db", digest: "1", objects: []string{keep}}}, pieces: []piece{web(aConfig)},
			before: func(w *world) {
				w.c.Edit("x", refOf(aFixed), func(u *unstructured.Unstructured) {
					object.AddLabels(u, map[string]string{object.LabelPartOf: "applyset-other"})
				})
				w.c.Edit("x", refOf(aDeploy), finalize)
				w.c.Delete(refOf(aDeploy))
			},
		},
		"Hooks": {
			reason: "Hooks are counted.", was: []piece{},
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, hooks: true}, {name: "bad", digest: "1", fails: errors.New("no"), hooks: true}},
			want: want{
				Changes: []string{"Create ConfigMap apps/c"}, Problems: []string{"bad: no"},
				Notes: []string{"nothing is pruned until all installs can be rendered", "web: the chart has 1 hook"},
			},
		},
		"Forbidden": {
			reason: "Without permission to try it there is a problem.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: try("try apply ConfigMap apps/c", kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "c", errors.New("no"))),
			want:   want{Problems: []string{`web: ConfigMap apps/c: configmaps "c" is forbidden: no`}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.was == nil {
				tc.was = was
			}
			w := newWorld(t, tc.was...)
			if len(tc.was) > 0 {
				w.settle()
			}
			if tc.before != nil {
				tc.before(w)
			}
			w.pieces = tc.pieces
			before, stored := contents(w), w.stored
			s, err := w.dryRun()
			got := want{Changes: changesOf(s), Problems: s.Problems, Notes: s.Notes, Err: textOf(err)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDryRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, contents(w)); diff != "" || w.stored != stored || len(w.took()) > 0 {
				t.Errorf("\n%s\nDryRun(...): it changes something: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// did returns what became of all objects between two contents of a cluster, in the words of a plan. Objects that are deleted and created
// are recreated; the UIDs tell.
func did(before, after map[cluster.ObjectRef]map[string]any, said map[string]bool) map[string]string {
	out := map[string]string{}
	uid := func(m map[string]any) string { return string((&unstructured.Unstructured{Object: m}).GetUID()) }
	for ref, now := range after {
		was, existed := before[ref]
		switch {
		case !existed:
			out[ref.String()] = "Create"
		case uid(was) != uid(now):
			out[ref.String()] = "Recreate"
		default:
			// What is written differently may mean the same.
			if f := fieldset.Differences(was, now); len(f) > 0 || said["Change "+ref.String()] {
				out[ref.String()] = "Change " + strings.Join(f, ",")
			}
		}
	}
	for ref := range before {
		if after[ref] == nil {
			out[ref.String()] = "Prune"
		}
	}
	return out
}

// What a dry run lists is what runs then do, for random bundles in random states of the cluster.
func TestDryRunForetellsRun(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	acts := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // The same in each test.
		w := newWorld(t)
		w.recreate = r.IntN(2) == 0
		var lines []string
		for step := range 5 {
			w.pieces = randomPieces(r, names, step)
			disturb(w, r, names)
			for _, p := range w.pieces {
				lines = append(lines, fmt.Sprintf("%s: %v", p.name, p.objects))
			}
			before := w.c.All()
			s, err := w.dryRun()
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			said, all := map[string]string{}, map[string]bool{}
			for _, c := range s.Changes {
				said[c.Key.String()] = string(c.Action)
				if c.Action == plan.ActionChange {
					said[c.Key.String()] = "Change " + strings.Join(c.Fields, ",")
				}
				all[string(c.Action)+" "+c.Key.String()] = true
				acts[string(c.Action)]++
			}
			var failed error
			for range 4 {
				if _, failed = w.run(); failed != nil || w.isDone() {
					break
				}
			}
			if (failed != nil) != (len(s.Problems) > 0) {
				t.Fatalf("seed %d: problems %v, error %v\n%s", seed, s.Problems, failed, strings.Join(lines, "\n"))
			}
			if failed != nil {
				acts["Problem"]++
				// What is refused stops its part, so that more is said than done.
				break
			}
			if diff := cmp.Diff(said, did(before, w.c.All(), all)); diff != "" {
				t.Fatalf("seed %d, step %d: -said, +done:\n%s\n%s\n%s", seed, step, diff, strings.Join(lines, "\n"), strings.Join(w.took(), "\n"))
			}
			w.took()
		}
	}
	for _, a := range []string{"Create", "Change", "Recreate", "Prune", "Problem"} {
		if acts[a] < 10 {
			t.Errorf("the bundles hardly make a dry run say %s: %v", a, acts)
		}
	}
}

// randomPieces of a bundle that changes with each step.
func randomPieces(r *rand.Rand, names []string, step int) []piece {
	var out []piece
	owned := map[string]bool{}
	for _, part := range []object.PartID{"web", "db"} {
		if r.IntN(5) == 0 {
			continue
		}
		p := piece{name: part, digest: fmt.Sprint(step), hooks: r.IntN(4) == 0}
		for _, n := range names {
			if owned[n] || r.IntN(2) == 0 {
				continue
			}
			owned[n] = true
			text := fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: apps}, data: {k: "%d"}}`, n, r.IntN(3))
			if n == "d" {
				text = strings.Replace(text, ", data:", ", immutable: true, data:", 1)
			}
			p.objects = append(p.objects, text)
		}
		out = append(out, p)
	}
	return out
}

// disturb what is in the cluster.
func disturb(w *world, r *rand.Rand, names []string) {
	for _, n := range names {
		ref := cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: n}
		u := w.c.Object(ref)
		switch r.IntN(10) {
		case 0:
			if u != nil {
				w.c.Finish(ref)
			}
		case 1:
			if u != nil && n != "d" {
				w.c.Set("kubectl-edit", ref, "9", "data", pickOf(r, "k", "z"))
			}
		case 2:
			if u == nil && !slices.Contains(w.c.Refs(), ref.String()) && r.IntN(3) == 0 {
				w.c.Create("kubectl", fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: apps}}`, n))
			}
		}
	}
}

func pickOf(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }
