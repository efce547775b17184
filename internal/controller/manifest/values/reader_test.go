// SPDX-License-Identifier: Apache-2.0

package values

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// valuesMap contains data by kind/namespace/name. The version is the number of changes so far.
type valuesMap struct {
	data    map[string]map[string]string
	version int
	err     error
}

func (m *valuesMap) Values(_ context.Context, kind, namespace, name string) (map[string][]byte, string, error) {
	if m.err != nil {
		return nil, "", m.err
	}
	in, ok := m.data[kind+"/"+namespace+"/"+name]
	if !ok {
		return nil, "", &config.MissingError{Object: kind + " " + namespace + "/" + name}
	}
	out := map[string][]byte{}
	for k, v := range in {
		out[k] = []byte(v)
	}
	return out, strconv.Itoa(m.version), nil
}

const hunter = "hunter2-is-a-secret"

func someValues() *valuesMap {
	return &valuesMap{data: map[string]map[string]string{
		"Secret/n/s":    {"values.yaml": "a: {b: s, c: s}\nonly: s\nlist: [1]\nnone: null\n", "password": hunter, "bad": "a: [" + hunter, "twice": "a: 1\na: " + hunter, "list": "- " + hunter, "bomb": bomb(), "binary": "\xff"},
		"ConfigMap/n/c": {"values.yaml": "a: {b: c}\nlist: [2, 3]\n", "empty": ""},
		"Secret/m/s":    {"values.yaml": "a: other"},
	}}
}

// bomb returns a document that aliases make very large.
func bomb() string {
	b := &strings.Builder{}
	b.WriteString("a0: &a0 [" + hunter + "]\n")
	for i := range 30 {
		b.WriteString("a" + strconv.Itoa(i+1) + ": &a" + strconv.Itoa(i+1) + " [*a" + strconv.Itoa(i) + ", *a" + strconv.Itoa(i) + "]\n")
	}
	return b.String()
}

func ref(kind, name, key, path string) v1alpha1.ValuesReference {
	return v1alpha1.ValuesReference{Kind: kind, Name: name, Key: key, TargetPath: path}
}

func optional(r v1alpha1.ValuesReference) v1alpha1.ValuesReference {
	r.Optional = true
	return r
}

func TestFill(t *testing.T) {
	type object = map[string]any
	cases := map[string]struct {
		reason string
		refs   []v1alpha1.ValuesReference
		values map[string]any
		form   manifest.Form
		want   map[string]any
		err    string
	}{
		"None":     {reason: "Without references, the values stay as they are.", values: object{"a": 1.0}, want: object{"a": 1.0}},
		"Secret":   {reason: "The key has a default, and null stays.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "", "")}, want: object{"a": object{"b": "s", "c": "s"}, "only": "s", "list": []any{1.0}, "none": nil}},
		"Order":    {reason: "Later references override earlier ones. Maps are merged, and lists are not.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "", ""), ref("ConfigMap", "c", "", "")}, want: object{"a": object{"b": "c", "c": "s"}, "only": "s", "list": []any{2.0, 3.0}, "none": nil}},
		"Values":   {reason: "The values of the Manifest override all references.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "c", "", "")}, values: object{"a": object{"b": "mine"}}, want: object{"a": object{"b": "mine"}, "list": []any{2.0, 3.0}}},
		"Path":     {reason: "A single value is set at targetPath, as a string.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "c", "", ""), ref("Secret", "s", "password", `a.x\.y.z`)}, want: object{"a": object{"b": "c", "x.y": object{"z": hunter}}, "list": []any{2.0, 3.0}}},
		"PathOver": {reason: "A value that targetPath passes through is replaced.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "c", "", ""), ref("Secret", "s", "password", "a.b.c")}, want: object{"a": object{"b": object{"c": hunter}}, "list": []any{2.0, 3.0}}},
		"Empty":    {reason: "A document may be empty.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "c", "empty", "")}, want: object{}},
		"Optional": {reason: "An optional object or key may be missing.", refs: []v1alpha1.ValuesReference{optional(ref("Secret", "x", "", "")), optional(ref("Secret", "s", "x", ""))}, want: object{}},
		"Missing":  {reason: "The error contains the kind, the name and the key.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "x", "k", "")}, err: `valuesFrom[0]: ConfigMap n/x does not exist; create it with the key "k", or set optional: true`},
		"NoKey":    {reason: "The error contains the missing key.", refs: []v1alpha1.ValuesReference{ref("ConfigMap", "c", "", ""), ref("Secret", "s", "x", "")}, err: `valuesFrom[1]: Secret n/s has no key "x"; add the key, or set optional: true`},
		"Syntax":   {reason: "The error contains the number of the line, but not its content.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "bad", "")}, err: `valuesFrom[0]: Secret n/s: key "bad": invalid YAML in line 1`},
		"Twice":    {reason: "A duplicate key is refused.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "twice", "")}, err: `valuesFrom[0]: Secret n/s: key "twice": invalid YAML in line 2`},
		"List":     {reason: "Values must be a map.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "list", "")}, err: `valuesFrom[0]: Secret n/s: key "list": must be a YAML map; to use the value as text, set targetPath`},
		"Bomb":     {reason: "Aliases must not exhaust the memory.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "bomb", "")}, err: `valuesFrom[0]: Secret n/s: key "bomb": YAML is larger than 2097152 bytes when its aliases are expanded`},
		"Binary":   {reason: "A value that is not UTF-8 is refused.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "binary", "a")}, err: `valuesFrom[0]: Secret n/s: key "binary": must be UTF-8 text`},
		"BadPath":  {reason: "An element of targetPath must not be empty.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "password", "a..b")}, err: `targetPath "a..b" has an empty element`},
		"Plain":    {reason: "Only charts have values.", refs: []v1alpha1.ValuesReference{ref("Secret", "s", "", "")}, form: manifest.FormKustomize, err: "valuesFrom is only supported for charts, but this install is not a chart; remove valuesFrom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "web", ValuesFrom: tc.refs}, {Name: "other"}}}
			bundle := &manifest.Bundle{Installs: []manifest.Install{{Name: "web", Values: tc.values, Form: tc.form, Shared: true}, {Name: "other", Shared: true}}}
			if _, err := NewReader(someValues()).Fill(t.Context(), "n", p, bundle); err != nil {
				t.Fatal(err)
			}
			in := &bundle.Installs[0]
			if tc.err == "" {
				if in.Shared != (len(tc.refs) == 0) || !bundle.Installs[1].Shared {
					t.Errorf("\n%s\nFill(...): only values of references are not shared", tc.reason)
				}
				if diff := cmp.Diff(tc.want, in.Values); diff != "" || in.Fetch != nil || in.Digest != "" {
					t.Errorf("\n%s\nFill(...): -want, +got:\n%s", tc.reason, diff)
				}
				return
			}
			_, err := in.Fetch(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error()+in.Digest, hunter) || in.Digest != " without values" {
				t.Errorf("\n%s\nFetch(): want error %q, got %v", tc.reason, tc.err, err)
			}
			if bundle.Installs[1].Fetch != nil {
				t.Errorf("\n%s\nthe other install must continue", tc.reason)
			}
		})
	}
}

func TestFillFollowsChanges(t *testing.T) {
	m := someValues()
	v := NewReader(m)
	p := &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "web", ValuesFrom: []v1alpha1.ValuesReference{ref("Secret", "s", "", "")}}}}
	fill := func() (any, error) {
		bundle := &manifest.Bundle{Installs: []manifest.Install{{Name: "web"}}}
		_, err := v.Fill(t.Context(), "n", p, bundle)
		return bundle.Installs[0].Values["only"], err
	}
	if got, err := fill(); got != "s" || err != nil {
		t.Errorf("Fill(...): %v, %v", got, err)
	}
	m.data["Secret/n/s"]["values.yaml"], m.version = "only: new", 1
	if got, err := fill(); got != "new" || err != nil {
		t.Errorf("Fill(...) after a change: %v, %v", got, err)
	}
	m.err = errors.New("API server is away")
	if _, err := fill(); err == nil || !strings.Contains(err.Error(), `spec.forProvider.installs["web"]: valuesFrom[0]: API server is away`) {
		t.Errorf("what cannot be read is not the fault of the install: %v", err)
	}
}

// TestReaderForgets checks that the values of a Secret do not stay in memory after it, or its key, was deleted.
func TestReaderForgets(t *testing.T) {
	cases := map[string]struct {
		reason string
		delete func(m *valuesMap)
		ref    v1alpha1.ValuesReference
	}{
		"Object":      {"The Secret is gone.", func(m *valuesMap) { delete(m.data, "Secret/n/s") }, ref("Secret", "s", "", "")},
		"Optional":    {"The Secret is gone, and need not exist.", func(m *valuesMap) { delete(m.data, "Secret/n/s") }, optional(ref("Secret", "s", "", ""))},
		"Key":         {"Its key is gone.", func(m *valuesMap) { delete(m.data["Secret/n/s"], "values.yaml") }, ref("Secret", "s", "", "")},
		"OptionalKey": {"Its key is gone, and need not exist.", func(m *valuesMap) { delete(m.data["Secret/n/s"], "values.yaml") }, optional(ref("Secret", "s", "", ""))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := someValues()
			v := NewReader(m)
			if _, err := v.read(t.Context(), "n", &tc.ref); err != nil || v.parsed.Size() == 0 {
				t.Fatalf("want that the values are kept, got %d bytes, %v", v.parsed.Size(), err)
			}
			tc.delete(m)
			if _, err := v.read(t.Context(), "n", &tc.ref); (err == nil) != tc.ref.Optional {
				t.Errorf("%s\nread(...): got %v", tc.reason, err)
			}
			if n := v.parsed.Size(); n > 0 {
				t.Errorf("%s\nwant that nothing is kept, got %d bytes", tc.reason, n)
			}
		})
	}
}

func TestReferencesOf(t *testing.T) {
	mr := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m"}}
	mr.Spec.ForProvider.Installs = make([]v1alpha1.Install, 2)
	mr.Spec.ForProvider.Installs[0].ValuesFrom = []v1alpha1.ValuesReference{ref("Secret", "s", "", ""), ref("ConfigMap", "s", "", "")}
	mr.Spec.ForProvider.Installs[1].ValuesFrom = []v1alpha1.ValuesReference{ref("Secret", "s", "x", "")}
	if diff := cmp.Diff([]string{"Secret/n/s", "ConfigMap/n/s"}, referencesOf(mr)); diff != "" {
		t.Errorf("referencesOf(...): -want, +got:\n%s", diff)
	}
}

func TestFillReturnsSecretsBesideMistakes(t *testing.T) {
	p := &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "web", ValuesFrom: []v1alpha1.ValuesReference{
		ref("Secret", "s", "password", "a"), ref("Secret", "missing", "", ""), ref("ConfigMap", "c", "", ""),
	}}}}
	bundle := &manifest.Bundle{Installs: []manifest.Install{{Name: "web"}}}
	secrets, err := NewReader(someValues()).Fill(t.Context(), "n", p, bundle)
	if diff := cmp.Diff([]any{map[string]any{"a": hunter}}, secrets); diff != "" || err != nil || bundle.Installs[0].Fetch == nil {
		t.Errorf("Fill(...): %v, -want, +got:\n%s", err, diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a: b", "- a", "a: &x [1]\nb: *x", "{", "a: 1\na: 2", "\xff", bomb()} {
		f.Add([]byte(s), "a.b")
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data)+len(path))()
		if _, err := parse(data); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		if v, err := placeAt(path, data); err == nil && len(v) != 1 {
			t.Errorf("placeAt(%q, ...): %v", path, v)
		}
	})
}
