// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// changesBetween returns what happened to all objects between two contents of a cluster, in the terms of a plan. If the UID changed, the
// object was recreated.
func changesBetween(before, after map[cluster.ObjectRef]map[string]any, said map[string]bool) map[string]string {
	out := map[string]string{}
	uid := func(m map[string]any) string { return string((&unstructured.Unstructured{Object: m}).GetUID()) }
	for ref, now := range after {
		was, existed := before[ref]
		switch {
		case !existed:
			out[ref.String()] = "Create"
		case uid(was) != uid(now):
			out[ref.String()] = "Recreate"
		case setOf(was) == worldSet && setOf(now) == "":
			// It is orphaned, which a plan does not list.
		default:
			// Objects that are written differently may mean the same.
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

// setOf returns the ID of the ApplySet that an object belongs to; empty for none.
func setOf(m map[string]any) string {
	return (&unstructured.Unstructured{Object: m}).GetLabels()[object.LabelPartOf]
}

// For random bundles in random states of the cluster, runs do what a dry run lists.
func TestDryRunMatchesRun(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	acts := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t)
		w.recreate, w.tearsDown = r.IntN(2) == 0, true
		var lines []string
		for step := range 5 {
			if contend(w, r) {
				acts["Cede"]++
			}
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
				if c.Action == ActionUpdate {
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
				// A refusal stops its part, so that the plan lists more than is done.
				break
			}
			if diff := cmp.Diff(said, changesBetween(before, w.c.All(), all)); diff != "" {
				t.Fatalf("seed %d, step %d: -said, +done:\n%s\n%s\n%s", seed, step, diff, strings.Join(lines, "\n"), strings.Join(w.took(), "\n"))
			}
			w.took()
		}
	}
	for _, a := range []string{"Create", "Change", "Recreate", "Prune", "Problem", "Cede"} {
		if acts[a] < 10 {
			t.Errorf("the bundles hardly make a dry run say %s: %v", a, acts)
		}
	}
}

// randomPieces returns the pieces of a bundle that changes with each step.
func randomPieces(r *rand.Rand, names []string, step int) []piece {
	var out []piece
	owned := map[string]bool{}
	for _, part := range []object.PartID{"web", "db"} {
		if r.IntN(5) == 0 {
			continue
		}
		p := piece{name: part, digest: strconv.Itoa(step), hooks: r.IntN(4) == 0}
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
		// An object that is kept, and the namespace that it needs.
		if shelter := fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", part); r.IntN(2) == 0 {
			p.objects = append(p.objects, shelter, fmt.Sprintf(
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: %s%s}}`, part, pickOf(r, "", ", annotations: {helm.sh/resource-policy: keep}")))
		}
		out = append(out, p)
	}
	return out
}

// contend changes a field of an object until the engine cedes it. It reports whether it did so.
func contend(w *world, r *rand.Rand) bool {
	w.t.Helper()
	if w.stored == nil || r.IntN(3) > 0 {
		return false
	}
	for _, en := range w.stored.Objects {
		if en.Name == "d" || en.UID == "" || w.c.Object(en.Ref()) == nil {
			continue
		}
		for range ownership.MaxRepairs + 1 {
			w.c.Set("kubectl-edit", en.Ref(), "8", "data", "k")
			if _, err := w.run(); err != nil {
				w.t.Fatal(err)
			}
		}
		return slices.ContainsFunc(w.stored.Find(en.Ref()).Ceded, func(c ownership.Ceded) bool { return c.Contended() })
	}
	return false
}

// disturb changes objects in the cluster as another client.
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
