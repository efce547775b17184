// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestUnions changes objects from one member of a union to another one, and back, as revisions of a chart. The result must
// equal a newly created object, and helm must not have a better result.
func TestUnions(t *testing.T) {
	pairs := workloads()
	maps.Copy(pairs, others())
	for name, p := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := strings.ToLower(name)
			r := install(t, id, p.a, p.b)
			r.change(t, p.reason, p.b, p.toB)
			if p.toB.refused+p.toB.helmRefuses != "" {
				r = install(t, id+"-back", p.b, p.a)
			}
			r.change(t, p.reason, p.a, p.toA)
		})
	}
}

// A release contains an object that the engine installs, and one that helm installs.
type releases struct {
	*connected

	ours, helms string
	// created contains each object in the form that it would have if it was created.
	created map[string]map[string]any
}

// install installs an object that is changed later.
func install(t *testing.T, id, text, next string) *releases {
	t.Helper()
	r := &releases{connected: connectTo(t), created: map[string]map[string]any{}}
	r.ours, r.helms = r.namespace(t, "ours-"+id), r.namespace(t, "helm-"+id)
	for _, text := range []string{text, next} {
		r.created[text] = content(t, r.connected.created(t, r.ours, named(text, r.ours)), r.ours)
	}
	if err := r.apply(t, bundleOf(r.ours, named(text, r.ours))); err != nil {
		t.Fatal(err)
	}
	if err := runHelm(t, r.helms, "install", named(text, r.helms)); err != nil {
		t.Fatal(err)
	}
	return r
}

func named(text, name string) string { return strings.ReplaceAll(text, "NAME", name) }

// change changes the object to another text.
func (r *releases) change(t *testing.T, reason, to string, want outcome) {
	t.Helper()
	s := bundleOf(r.ours, named(to, r.ours))
	plan, err := r.engine.Plan(t.Context(), r, s)
	if err != nil {
		t.Fatal(err)
	}
	planned := strings.Join(plan.Problems, "; ")
	if (planned != "") != (want.refused != "") || !strings.Contains(planned, want.refused) {
		t.Errorf("\n%s\nwant a plan with the problem %q, got %q", reason, want.refused, planned)
	}
	err = r.apply(t, s)
	checkRefused(t, reason, "the engine", err, want.refused)
	if err == nil {
		got := content(t, r.live(t, r.ours, named(to, r.ours)), r.ours)
		checkKept(t, reason, "the engine", differences("", r.created[to], got), want.keeps)
	}

	err = runHelm(t, r.helms, "upgrade", named(to, r.helms))
	checkRefused(t, reason, "helm", err, want.refused+want.helmRefuses)
	if err == nil {
		got := content(t, r.live(t, r.helms, named(to, r.helms)), r.helms)
		checkKept(t, reason, "helm", differences("", r.created[to], got), want.keeps)
	}
}

func checkRefused(t *testing.T, reason, who string, err error, want string) {
	t.Helper()
	if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("\n%s\nwant %s to be refused because of %q, got %v", reason, who, want, err)
	}
}

func checkKept(t *testing.T, reason, who string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("\n%s\nWhat %s leaves otherwise than it would be created: -want, +got:\n%s", reason, who, diff)
	}
}

// content returns the content of an object, except for parts that depend on its name or are allocated from a range.
func content(t *testing.T, u *unstructured.Unstructured, name string) map[string]any {
	t.Helper()
	for _, f := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(u.Object, f)
	}
	for _, f := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		unstructured.RemoveNestedField(u.Object, "spec", f)
	}
	b, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), name, "NAME")), &out); err != nil {
		t.Fatal(err)
	}
	if spec, ok := out["spec"].(map[string]any); ok {
		ports, _ := spec["ports"].([]any)
		for _, p := range ports {
			delete(p.(map[string]any), "nodePort")
		}
	}
	return out
}

// differences returns the paths at which two maps differ.
func differences(path string, a, b map[string]any) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for k := range all {
		at := strings.TrimPrefix(path+"."+k, ".")
		x, isMap := a[k].(map[string]any)
		y, both := b[k].(map[string]any)
		switch {
		case isMap && both:
			out = append(out, differences(at, x, y)...)
		case !reflect.DeepEqual(a[k], b[k]):
			out = append(out, at)
		}
	}
	return out
}
