// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return u
}

// A version of a CRD in YAML, with the schema of its spec.
func version(name, flags, spec string) string {
	return fmt.Sprintf("{name: %s, %s, schema: {openAPIV3Schema: {type: object, properties: {spec: %s}}}}", name, flags, spec)
}

func crd(t testing.TB, rest string, versions ...string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [%s]}%s}`, strings.Join(versions, ", "), rest))
}

const (
	both   = "served: true, storage: true"
	only   = "served: true, storage: false"
	hidden = "served: false, storage: true"
	open   = "{type: object, properties: {size: {type: string}, mode: {type: string}, num: {type: integer}}}"
)

func TestReplaceable(t *testing.T) {
	live := crd(t, ", status: {storedVersions: [v1alpha1, v1]}", version("v1alpha1", only, open), version("v1", both, open))
	cases := map[string]struct {
		reason string
		next   *unstructured.Unstructured
		want   string
	}{
		"Same":     {reason: "Nothing changes.", next: live},
		"Unserved": {reason: "A version that is stored need not be served.", next: crd(t, "", version("v1alpha1", "served: false, storage: false", open), version("v1", both, open))},
		"Stored": {
			reason: "What is stored could not be read any more.", next: crd(t, "", version("v1", both, open)),
			want: "objects might be stored in version v1alpha1 (status.storedVersions), which the new CRD does not have",
		},
		"Scope": {
			reason: "All objects would have to move.",
			next:   parse(t, strings.Replace(mustYAML(t, live), "scope: Namespaced", "scope: Cluster", 1)),
			want:   "spec.scope cannot be changed from Namespaced to Cluster",
		},
		"Kind": {
			reason: "Another kind is another CRD.",
			next:   parse(t, strings.Replace(mustYAML(t, live), "kind: Widget", "kind: Gadget", 1)),
			want:   "spec.names.kind cannot be changed from Widget to Gadget",
		},
		"NoCRD": {
			reason: "What cannot be read is refused.", next: parse(t, "{apiVersion: v1, kind: X, spec: [1]}"), want: "not a valid CustomResourceDefinition",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Replaceable(live, tc.next); err != nil {
				got = err.Error()
			}
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func mustYAML(t testing.TB, u *unstructured.Unstructured) string {
	t.Helper()
	b, err := yaml.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestObject(t *testing.T) {
	cases := map[string]struct {
		reason    string
		was, is   []string
		object    string
		want      map[string][]string // Problems by version, including versions without problems.
		wantError string
	}{
		"Texts": {
			reason: "Other descriptions need no check of objects.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, strings.Replace(open, "type: object,", "type: object, description: other,", 1))},
			want:   map[string][]string{},
		},
		"Required": {
			reason: "A field that becomes required is missing.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, strings.Replace(open, "{type: object,", "{type: object, required: [mode],", 1))},
			object: "{size: a}", want: map[string][]string{"v1": {"spec.mode: required value"}},
		},
		"Defaulted": {
			reason: "A field that becomes required and has a default is not missing.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, "{type: object, required: [mode], properties: {size: {type: string}, mode: {type: string, default: x}}}")},
			object: "{size: a}", want: map[string][]string{"v1": nil},
		},
		"Enum": {
			reason: "No value of the object is shown.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, "{type: object, properties: {size: {type: string, enum: [small, large]}}}")},
			object: "{size: secret}", want: map[string][]string{"v1": {`spec.size: unsupported value: supported values: "small", "large"`}},
		},
		"Pattern": {
			reason: "A value must match the pattern of the new version.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, "{type: object, properties: {size: {type: string, pattern: '^x'}}}")},
			object: "{size: secret}", want: map[string][]string{"v1": {"spec.size: invalid value: spec.size in body should match '^x'"}},
		},
		"Rule": {
			reason: "Rules in CEL count.",
			was:    []string{version("v1", both, open)},
			is: []string{version("v1", both,
				`{type: object, x-kubernetes-validations: [{rule: 'self.num > 3', message: num is too small}], properties: {num: {type: integer}}}`)},
			object: "{num: 2}", want: map[string][]string{"v1": {"spec: invalid value: num is too small"}},
		},
		"Transition": {
			reason: "A rule about changes says nothing of an object that does not change.",
			was:    []string{version("v1", both, open)},
			is: []string{version("v1", both,
				`{type: object, x-kubernetes-validations: [{rule: 'self.num == oldSelf.num'}], properties: {num: {type: integer}}}`)},
			object: "{num: 2}", want: map[string][]string{"v1": nil},
		},
		"Pruned": {
			reason: "A field that is gone is dropped, as the API server does when it reads the object.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, "{type: object, properties: {size: {type: string}}}")},
			object: "{size: a, mode: 3}", want: map[string][]string{"v1": nil},
		},
		"Before": {
			reason: "An object that was invalid before is not a reason to refuse the CRD.",
			was:    []string{version("v1", both, "{type: object, required: [mode], properties: {mode: {type: string}}}")},
			is:     []string{version("v1", both, "{type: object, required: [mode], properties: {mode: {type: string}, num: {type: integer}}}")},
			object: "{}", want: map[string][]string{"v1": nil},
		},
		"Versions": {
			reason: "Each version that was served is checked on its own, and a new one is not.",
			was:    []string{version("v1", both, open), version("v2", only, open)},
			is: []string{
				version("v1", both, open), version("v2", only, "{type: object, required: [mode]}"), version("v3", only, "{type: object, required: [mode]}"),
			},
			object: "{}", want: map[string][]string{"v2": {"spec.mode: required value"}},
		},
		"Replaced": {
			reason: "Where no version of before is left, objects are read as they are in the new one.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", "served: false, storage: false", open), version("v2", both, "{type: object, required: [mode]}")},
			object: "{}", want: map[string][]string{"v1": {"spec.mode: required value"}},
		},
		"Hidden": {
			reason: "A version that no one can use is not a reason.",
			was:    []string{version("v1", hidden, open), version("v2", only, open)},
			is:     []string{version("v1", hidden, "{type: object, required: [mode]}"), version("v2", only, open)},
			want:   map[string][]string{},
		},
		"Many": {
			reason: "The result contains only some problems of an object.",
			was:    []string{version("v1", both, open)},
			is:     []string{version("v1", both, "{type: object, required: [a, b, c, d], properties: {a: {type: string}}}")},
			object: "{}", want: map[string][]string{"v1": {"spec.a: required value", "spec.b: required value", "spec.c: required value", "…"}},
		},
		"Broken": {
			reason:    "A schema that no API server takes is refused.",
			was:       []string{version("v1", both, open)},
			is:        []string{version("v1", both, "{type: object, properties: {a: {$ref: '#/x'}}}")},
			wantError: "spec.versions[v1].schema",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			checks, err := Checks(crd(t, "", tc.was...), crd(t, "", tc.is...))
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Errorf("\n%s\nerror %v, want %q", tc.reason, err, tc.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, c := range checks {
				u := parse(t, "{apiVersion: example.org/"+c.Version+", kind: Widget, metadata: {name: x}, spec: "+tc.object+"}")
				before := u.DeepCopy()
				if p := c.Object(t.Context(), u); len(p) > 0 {
					got[c.Version] = p
				} else {
					got[c.Version] = nil
				}
				if diff := cmp.Diff(before, u); diff != "" {
					t.Errorf("the object was changed: %s", diff)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzObject checks arbitrary objects against arbitrary schemas.
func FuzzObject(f *testing.F) {
	f.Add(open, "{type: object, required: [mode]}", "{size: a}")
	f.Add("{type: object, x-kubernetes-preserve-unknown-fields: true}", `{type: object, x-kubernetes-validations: [{rule: "self.a > 1"}]}`, "{a: null}")
	f.Add("{}", "{type: array, items: {type: object, nullable: true}}", "[{}]")
	f.Fuzz(func(t *testing.T, was, is, object string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(was)+len(is)+len(object))()
		schemaIn := func(text string) (*unstructured.Unstructured, bool) {
			var v any
			if len(text) > 1<<12 || yaml.Unmarshal([]byte(text), &v) != nil {
				return nil, false
			}
			u := crd(t, "", version("v1", both, "{}"))
			versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
			versions[0].(map[string]any)["schema"] = map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": runtime.DeepCopyJSONValue(plain(v))},
			}}
			return u, unstructured.SetNestedSlice(u.Object, versions, "spec", "versions") == nil
		}
		old, ok := schemaIn(was)
		next, ok2 := schemaIn(is)
		var spec any
		if !ok || !ok2 || yaml.Unmarshal([]byte(object), &spec) != nil {
			return
		}
		checks, err := Checks(old, next)
		if err != nil {
			return
		}
		for _, c := range checks {
			c.Object(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "x"}, "spec": plain(spec),
			}})
		}
	})
}

// plain returns a value with the types that decoded objects have.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

func BenchmarkObject(b *testing.B) {
	checks, err := Checks(crd(b, "", version("v1", both, open)), crd(b, "", version("v1", both,
		`{type: object, required: [size], x-kubernetes-validations: [{rule: 'self.num > 3'}], properties: {size: {type: string, enum: [a, b]}, num: {type: integer}}}`)))
	if err != nil || len(checks) != 1 {
		b.Fatal(err)
	}
	u := parse(b, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: x}, spec: {size: a, num: 7}}")
	for b.Loop() {
		if p := checks[0].Object(b.Context(), u); p != nil {
			b.Fatal(p)
		}
	}
}
