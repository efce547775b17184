// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// lines returns a summary of changes.
func lines(fields []FieldChange) []string {
	var out []string
	text := func(v *any) string {
		if v == nil {
			return "none"
		}
		data, err := json.Marshal(*v)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	for _, f := range fields {
		if f.Hidden {
			out = append(out, f.Path+" hidden")
			continue
		}
		out = append(out, f.Path+" "+text(f.From)+" "+text(f.To))
	}
	return out
}

func TestFields(t *testing.T) {
	cases := map[string]struct {
		reason   string
		from, to string
		want     []string
	}{
		"Same":      {reason: "Equal values have no changes.", from: "{a: [1, {b: c}]}", to: "{a: [1, {b: c}]}"},
		"Scalar":    {reason: "A scalar is shown with both values.", from: "{a: {b: 1}}", to: "{a: {b: 2}}", want: []string{"a.b 1 2"}},
		"Type":      {reason: "A string is not a number.", from: "{a: 1}", to: "{a: '1'}", want: []string{`a 1 "1"`}},
		"Float":     {reason: "1.0 is the number 1.", from: "{a: 1}", to: "{a: 1.0}"},
		"Null":      {reason: "Null is a value.", from: "{a: null}", to: "{}", want: []string{"a null none"}},
		"AddedMap":  {reason: "A field without a counterpart is shown as a whole.", from: "{}", to: "{a: {b: 1}}", want: []string{`a none {"b":1}`}},
		"EmptyMap":  {reason: "A field that was empty is shown as a whole.", from: "{a: {}}", to: "{a: {b: 1}}", want: []string{`a {} {"b":1}`}},
		"Sorted":    {reason: "Paths are sorted.", from: "{c: 1, a: 1, b: 1}", to: "{b: 2, d: 2, a: 2, c: 2}", want: []string{"a 1 2", "b 1 2", "c 1 2", "d none 2"}},
		"Key":       {reason: "Keys that are not identifiers are quoted.", from: `{a: {"x.y/z": 1}}`, to: `{a: {"x.y/z": 2}}`, want: []string{`a["x.y/z"] 1 2`}},
		"Index":     {reason: "Items without names are numbered.", from: "{a: [x, u]}", to: "{a: [x, z, w]}", want: []string{`a[1] "u" "z"`, `a[2] none "w"`}},
		"Names":     {reason: "Items with names are named.", from: "{a: [{name: x, v: 1}, {name: u}]}", to: "{a: [{name: z}, {name: x, v: 2}]}", want: []string{`a[u] {"name":"u"} none`, "a[x].v 1 2", `a[z] none {"name":"z"}`}},
		"Order":     {reason: "Another order is a change.", from: "{a: [{name: x}, {name: u}]}", to: "{a: [{name: u}, {name: x}]}", want: []string{`a ["x","u"] ["u","x"]`}},
		"Ambiguous": {reason: "Names must tell items apart.", from: "{a: [{name: x, v: 1}, {name: x}]}", to: "{a: [{name: x, v: 2}, {name: x}]}", want: []string{"a[0].v 1 2"}},
		"Shape":     {reason: "A list is not an object.", from: "{a: [1]}", to: "{a: {b: 1}}", want: []string{`a [1] {"b":1}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := lines(Fields(tree(t, tc.from), tree(t, tc.to)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: tree(t, text)}
}

func TestObjects(t *testing.T) {
	secret := func(rest string) string { return "{apiVersion: v1, kind: Secret, metadata: {name: s}, " + rest + "}" }
	cases := map[string]struct {
		reason   string
		from, to []string
		want     []string
	}{
		"Moved": {
			reason: "Order does not matter.",
			from:   []string{"{apiVersion: v1, kind: A, metadata: {name: x}}", "{apiVersion: v1, kind: B, metadata: {name: x}}"},
			to:     []string{"{apiVersion: v1, kind: B, metadata: {name: x}}", "{apiVersion: v1, kind: A, metadata: {name: x}}"},
		},
		"Each": {
			reason: "All changes are sorted by kind, namespace and name.",
			from:   []string{"{apiVersion: v1, kind: B, metadata: {name: x}}", "{apiVersion: v1, kind: A, metadata: {name: x, namespace: ns}, a: 1}"},
			to:     []string{"{apiVersion: v1, kind: C, metadata: {name: x}}", "{apiVersion: v1, kind: A, metadata: {name: x, namespace: ns}, a: 2}"},
			want:   []string{"changed A ns/x", "a 1 2", "removed B x", "added C x"},
		},
		"Version": {
			reason: "An object in another API version is the same object.",
			from:   []string{"{apiVersion: g/v1, kind: A, metadata: {name: x}}"}, to: []string{"{apiVersion: g/v2, kind: A, metadata: {name: x}}"},
			want: []string{"changed A x", `apiVersion "g/v1" "g/v2"`},
		},
		"Group": {
			reason: "An object in another API group is a different object.",
			from:   []string{"{apiVersion: g/v1, kind: A, metadata: {name: x}}"}, to: []string{"{apiVersion: h/v1, kind: A, metadata: {name: x}}"},
			want: []string{"removed A x", "added A x"},
		},
		"Secret": {
			reason: "The data of a Secret is never shown.",
			from:   []string{secret("data: {a: YQ==, 'b.c': YQ==}, type: x")}, to: []string{secret("data: {a: Yg==}, stringData: {d: e}, type: z")},
			want: []string{"changed Secret s", "data.a hidden", `data["b.c"] hidden`, "stringData hidden", `type "x" "z"`},
		},
		"SecretCopy": {
			reason: "The copy of the data in the annotation of kubectl is not shown.",
			from:   []string{"{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {a: b}}}"},
			to:     []string{"{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: c}}}"},
			want:   []string{"changed Secret s", lastApplied + " hidden"},
		},
		"OtherSecret": {
			reason: "A kind of another group that is called Secret is not a Secret.",
			from:   []string{"{apiVersion: g/v1, kind: Secret, metadata: {name: s}, data: {a: 1}}"}, to: []string{"{apiVersion: g/v1, kind: Secret, metadata: {name: s}, data: {a: 2}}"},
			want: []string{"changed Secret s", "data.a 1 2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range Objects(objects(t, tc.from), objects(t, tc.to)) {
				got = append(append(got, c.Change+" "+c.Title()), lines(c.Fields)...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func objects(t testing.TB, texts []string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, s := range texts {
		out = append(out, object(t, s))
	}
	return out
}

func TestVersions(t *testing.T) {
	crd := func(name, versions string) string {
		return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + name + "}, spec: {versions: " + versions + "}}"
	}
	from := objects(t, []string{crd("b", "[{name: v1, served: true}]"), crd("a", "[{name: v1, served: true}, {name: v2, served: false}]"), crd("gone", "[{name: v1, served: true}]")})
	to := objects(t, []string{crd("a", "[{name: v1, served: false}, {name: v2, served: true}]"), crd("b", "[{name: v1, served: true}]"), crd("new", "[{name: v1, served: true}]")})
	want := []VersionChange{{Removed, "a", "v1"}, {Added, "a", "v2"}}
	if diff := cmp.Diff(want, Versions(from, to)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestSets(t *testing.T) {
	added, removed := Sets([]string{"c", "a", "a"}, []string{"d", "c", "b"})
	if !slices.Equal(added, []string{"b", "d"}) || !slices.Equal(removed, []string{"a"}) {
		t.Errorf("got %v, %v", added, removed)
	}
}

func BenchmarkObjects(b *testing.B) {
	var from, to []*unstructured.Unstructured
	for _, n := range "abcdefghijklmnopqrstuvwxyz" {
		text := "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + string(n) + "}, spec: {replicas: 1, template: {spec: {containers: [{name: main, image: x}]}}}}"
		from = append(from, object(b, text))
		to = append(to, object(b, text))
	}
	for b.Loop() {
		Objects(from, to)
	}
}
