// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// bomb returns YAML with depth levels, each of which refers to the previous level width times.
func bomb(depth, width int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\nl0: &l0 [x]\n")
	for i := range depth {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i), width), ", "))
	}
	return b.String()
}

func TestObjects(t *testing.T) {
	a, b := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"
	jsonA := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	type want struct {
		Names []string
		Err   string
	}
	both := want{Names: []string{"ConfigMap/a", "ConfigMap/b"}}
	one := want{Names: []string{"ConfigMap/a"}}
	cases := map[string]struct {
		reason string
		data   string
		want   want
	}{
		"Empty":         {"Empty text contains no objects.", "", want{}},
		"Blank":         {"Comments, directives and separators contain no objects.", "%YAML 1.1\n---\n# x\n---\n\n...\n--- # y\n---", want{}},
		"Two":           {"The objects have the order of their documents.", "---\n" + a + "---\n" + b + "---\n", both},
		"CRLF":          {"Lines can end with CRLF.", strings.ReplaceAll(a+"---\n"+b, "\n", "\r\n"), both},
		"BOM":           {"A byte order mark is dropped.", "\uFEFF" + a, one},
		"EndMarker":     {"What follows an end marker is not lost.", a + "...\n" + b, both},
		"MarkerContent": {"A document may begin in the line of its marker.", "--- " + jsonA + "\n--- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}", both},
		"NoNewline":     {"The last line may have no line break.", strings.TrimSpace(a) + "\n---", one},
		"MarkerInText":  {"An indented marker is text.", a + "data:\n  x: |\n    ---\n    y\n  z: \"---\"\n", one},
		"LongMarker":    {"A line of more than three dashes is not a separator, and not valid YAML here.", a + "----\n", want{Err: "yaml: line"}},
		"JSON":          {"JSON is YAML.", jsonA, one},
		"JSONStream":    {"JSON needs no separator.", jsonA + "\n" + strings.ReplaceAll(jsonA, `"a"`, `"b"`), both},
		"JSONGarbage":   {"Nothing after JSON is lost.", jsonA + "\nx", want{Err: "cannot read the JSON after object 1"}},
		"FlowGarbage":   {"Content after a map in braces is refused.", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n{apiVersion: v1}", want{Err: "unexpected content after the object: separate documents with ---"}},
		"List": {
			"A list becomes its items, also within a list.",
			"apiVersion: v1\nkind: List\nitems:\n- " + jsonA + "\n- {apiVersion: v1, kind: ConfigMapList, items: [" + strings.ReplaceAll(jsonA, `"a"`, `"b"`) + "]}\n",
			both,
		},
		"EmptyList":   {"A list may be empty.", "apiVersion: v1\nkind: List\nitems: []\n", want{}},
		"Braces":      {"A map in braces can have comments around it.", "# c\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}} # d\n# e\n", one},
		"Quoted":      {"Keys can be in quotes.", "\"apiVersion\": v1\nkind: ConfigMap\nmetadata: {name: a}\n", one},
		"ListNoItems": {"A kind may be called a list without being one.", "apiVersion: x/v1\nkind: AllowList\nmetadata: {name: l}\nspec: {items: [1]}\n", want{Names: []string{"AllowList/l"}}},
		"ListOfText":  {"Items are objects.", "apiVersion: v1\nkind: List\nitems: [a]\n", want{Err: "List: items[0] must be an object"}},
		"ListItem":    {"Items are checked.", "apiVersion: v1\nkind: List\nitems: [{kind: x}]\n", want{Err: "List: items[0]: apiVersion is missing or not a string"}},
		"DeepList": {
			"Lists in lists end.", strings.Repeat("{apiVersion: v1, kind: List, items: [", 6) + strings.Repeat("]}", 6),
			want{Err: "lists are nested more than 4 levels deep"},
		},
		"Text":         {"Text is not an object.", "hello", want{Err: "not an object: must be a map with apiVersion, kind and metadata.name"}},
		"Second":       {"The document is named if there are several.", a + "---\n# c\n---\nhello\n", want{Err: "document 2 (line 8): not an object"}},
		"NoAPIVersion": {"The field is named.", "kind: x\n", want{Err: "apiVersion is missing or not a string"}},
		"NoKind":       {"The field is named.", "apiVersion: v1\nkind: 1\n", want{Err: "kind is missing or not a string"}},
		"NoMetadata":   {"The kind is named.", "apiVersion: v1\nkind: Pod\n", want{Err: "Pod: metadata is missing or not an object"}},
		"NoName":       {"The kind is named.", "apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n", want{Err: "Pod: metadata.name is missing or not a string"}},
		"GenerateName": {"An object that gets its name later cannot be found again.", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n", want{Err: "Pod: metadata.generateName is not supported; set metadata.name"}},
		"Namespace":    {"A namespace that looks like a number would be dropped.", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: 1}\n", want{Err: `Pod "a": metadata.namespace must be a string`}},
		"Labels":       {"All labels would be dropped if one of them is not a string.", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {v: 1.0}}\n", want{Err: `Pod "a": metadata.labels[v] must be a string; enclose it in quotes`}},
		"LabelsList":   {"Annotations of another type than an object would be dropped.", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: [x]}\n", want{Err: `Pod "a": metadata.annotations must be an object`}},
		"Duplicate":    {"If a key occurs twice, one of its values would be lost.", a + "kind: Pod\n", want{Err: `yaml: unmarshal errors: line 5: key "kind" already set in map`}},
		"DuplicateJSON": {
			"Also in JSON.", `{"apiVersion":"v1","kind":"A","kind":"B","metadata":{"name":"a"}}`,
			want{Err: `key "kind" already set in map`},
		},
		"Tab":        {"Tabs do not indent.", "apiVersion: v1\nkind:\n\tx: y\n", want{Err: "yaml: line"}},
		"NUL":        {"Control characters are not text.", a + "x: \"\x00\"\n", want{Err: "yaml: control characters are not allowed"}},
		"NotUTF8":    {"Text that is not UTF-8 is refused.", a + "x: \"\xff\xfe\"\n", want{Err: "yaml: "}},
		"NaN":        {"JSON has no such numbers.", a + "x: .nan\n", want{Err: "json: unsupported value: NaN"}},
		"AliasCycle": {"A value that contains itself is refused.", a + "x: &x [*x]\n", want{Err: "yaml: anchor 'x' value contains itself"}},
		"Alias":      {"Aliases are allowed.", a + "x: &x [1]\ny: *x\n", one},
		"AliasBomb":  {"Aliases must not expand to too many values.", bomb(12, 10), want{Err: "YAML contains more than 2000000 values when its aliases are expanded"}},
		"LongBomb":   {"Aliases of long texts, which the library does not check, must not expand to too many bytes.", a + "x: &x " + strings.Repeat("x", 100000) + "\ny: [" + strings.Repeat("*x, ", 1000) + "*x]\n", want{Err: "YAML is larger than 67108864 bytes when its aliases are expanded"}},
		"Deep":       {"The depth of nesting is limited, so that the stack does not overflow.", a + "x: " + strings.Repeat("[", 100000), want{Err: "exceeded max depth of 10000"}},
		"DeepJSON":   {"The depth of nesting is limited in JSON, too.", `{"a":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}", want{Err: "exceeded max depth"}},
		"Huge":       {"A large scalar is not a problem.", a + "data: {x: " + strings.Repeat("x", 5<<20) + "}\n", one},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objs, err := Objects([]byte(tc.data))
			got := want{Names: names(objs), Err: text(err)}
			if tc.want.Err != "" && strings.Contains(got.Err, tc.want.Err) && !strings.Contains(got.Err, "\n") {
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nObjects(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObjectsLine checks that an error contains the line in the original text.
func TestObjectsLine(t *testing.T) {
	a := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	jsonA := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	cases := map[string]struct {
		reason string
		data   string
		want   string
	}{
		"Only":      {"For an only document, the error names the line at which the malformed map begins.", a + "data:\n  x: y\n z: 1\n", "yaml: line 6: did not find expected key"},
		"Comments":  {"Comments before the document are included in the line number.", "# one\n---\n# two\n" + a + "kind: Pod\n", `yaml: unmarshal errors: line 8: key "kind" already set in map`},
		"Second":    {"Earlier documents are included in the line number.", a + "---\n" + a + "kind: Pod\n", `document 2: yaml: unmarshal errors: line 10: key "kind" already set in map`},
		"Both":      {"If an error names several lines, each is a line of the whole text.", a + "---\n" + a + "kind: Pod\nkind: Job\n", `document 2: yaml: unmarshal errors: line 10: key "kind" already set in map line 11: key "kind" already set in map`},
		"FirstLine": {"The error names the first line of a document, for which the library returns no number.", a + "---\nfoo: bar: baz\n", "document 2 (line 6): yaml: mapping values are not allowed in this context"},
		"OnlyFirst": {"The error names the first line of the only document.", "# c\n---\nfoo: bar: baz\n", "document 1 (line 3): yaml: mapping values are not allowed in this context"},
		"Marker":    {"A document may begin in the line of its marker.", a + "--- {a: b: c}\n", "document 2 (line 5): yaml: did not find expected ',' or '}'"},
		"Object":    {"The error for a document that is not an object names its first line.", a + "---\n\nkind: x\n", "document 2 (line 6): apiVersion is missing or not a string"},
		"Windows":   {"A line that ends with CRLF counts as one line.", strings.ReplaceAll(a+"---\n"+a+"kind: Pod\n", "\n", "\r\n"), `document 2: yaml: unmarshal errors: line 10: key "kind" already set in map`},
		"JSON":      {"Objects of JSON may follow each other.", "\n" + jsonA + "\n\n{\"kind\":\"x\"}", "document 2 (line 4): apiVersion is missing or not a string"},
		"Garbage":   {"Content after JSON objects is refused, not dropped.", "\n" + jsonA + "\nx", "cannot read the JSON after object 1 (line 2): invalid character 'x' looking for beginning of value"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Objects([]byte(tc.data))
			if diff := cmp.Diff(tc.want, text(err)); diff != "" {
				t.Errorf("\n%s\nObjects(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestObjectsContent(t *testing.T) {
	objs, err := Objects([]byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {empty: null}
  annotations: null
data:
  int: 3
  big: 9007199254740993
  float: 1.5
  whole: 2.0
  exp: 1e999
  yes: on
  text: "yes"
  1: one
  time: 2020-01-01
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"empty": ""}},
		"data": map[string]any{
			"int": int64(3), "big": int64(9007199254740993), "float": 1.5, "whole": int64(2), "exp": "1e999",
			"true": true, "text": "yes", "1": "one", "time": "2020-01-01",
		},
	}
	if diff := cmp.Diff(want, objs[0].Object); diff != "" {
		t.Errorf("Objects(...): -want, +got:\n%s", diff)
	}
}

// FuzzObjects checks that accepted objects can be applied, and that errors are a single line.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{
		"", "---\n", "a: b\n---\nc", bomb(2, 2), "{}\n{}", "%YAML 1.2\n---\n[]", "--- {a: b}\n...\n--- |\n x",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":null}}}{"a":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		objs, err := Objects(data)
		if strings.Contains(text(err), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		for _, o := range objs {
			if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" {
				t.Errorf("not an object: %v", o.Object)
			}
			o.DeepCopy() // DeepCopy panics on types that JSON does not have.
		}
	})
}

func BenchmarkObjects(b *testing.B) {
	var text strings.Builder
	for i := range 5 {
		fmt.Fprintf(&text, `---
# Source: app/templates/d%[1]d.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: rel-app-%[1]d
  labels:
    a: b
spec:
  replicas: 2
  selector: {matchLabels: {app: x}}
  template:
    metadata:
      labels: {app: x}
    spec:
      containers:
      - name: a
        image: "x"
        resources: {limits: {cpu: 1, memory: 64Mi}}
      - name: b
        image: "x"
        resources: {limits: {cpu: 1, memory: 64Mi}}
`, i)
	}
	data := []byte(text.String())
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Objects(data); err != nil {
			b.Fatal(err)
		}
	}
}

// names returns the names of objects as Kind/name.
func names(objs []*unstructured.Unstructured) []string {
	var out []string
	for _, o := range objs {
		out = append(out, o.GetKind()+"/"+o.GetName())
	}
	return out
}

// text returns the text of an error, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
