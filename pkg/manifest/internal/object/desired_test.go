// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func fromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), u); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPatches(t *testing.T) {
	u := fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: x, resourceVersion: "7", generation: 2, creationTimestamp: null,
		managedFields: [], labels: {a: <b>}}, data: {k: "&"}, status: {x: y}}`)
	o, err := New(u, "web", StageConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	for version, patch := range map[string][]byte{`"resourceVersion":"1",`: o.CreatePatch(), "": o.ApplyPatch()} {
		want := `{"metadata":{` + version + `"labels":{"a":"<b>"},"name":"a"},"apiVersion":"v1","data":{"k":"&"},"kind":"ConfigMap"}`
		if diff := cmp.Diff(want, string(patch)); diff != "" || !json.Valid(patch) {
			t.Errorf("the patch with %q: -want, +got:\n%s", version, diff)
		}
	}
	other, err := New(fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: <b>}}, data: {k: "&"}}`), "web", StageConfiguration)
	if err != nil || other.Hash != o.Hash {
		t.Errorf("what the server sets is not part of the intent: %s, %s, %v", o.Hash, other.Hash, err)
	}
}

func TestExpires(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"TTL":    {reason: "The Job controller deletes the Job.", text: "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {ttlSecondsAfterFinished: 0}}", want: true},
		"None":   {reason: "A Job without a TTL stays.", text: "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {ttlSecondsAfterFinished: null}}"},
		"NoSpec": {reason: "An incomplete Job stays.", text: "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}"},
		"Other":  {reason: "The field means nothing in other kinds.", text: "{apiVersion: example.org/v1, kind: Job, metadata: {name: a}, spec: {ttlSecondsAfterFinished: 0}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := New(fromYAML(t, tc.text), "web", StageWorkloads)
			if err != nil || o.Expires != tc.want {
				t.Errorf("\n%s\nNew(...): want %t, got %t, %v", tc.reason, tc.want, o.Expires, err)
			}
		})
	}
}

func TestStringData(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: a}, "
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Texts":    {reason: "The texts become data.", text: secret + `stringData: {a: "x: y", b: ""}}`, want: `{"apiVersion":"v1","data":{"a":"eDogeQ==","b":""},"kind":"Secret"}`},
		"Both":     {reason: "A text replaces data with the same key, as in an API server.", text: secret + `data: {a: YQ==, c: Yw==}, stringData: {a: x}}`, want: `{"apiVersion":"v1","data":{"a":"eA==","c":"Yw=="},"kind":"Secret"}`},
		"Empty":    {reason: "No object has stringData.", text: secret + `stringData: {}}`, want: `{"apiVersion":"v1","data":{},"kind":"Secret"}`},
		"Number":   {reason: "The API server reports a value that is not a text.", text: secret + `stringData: {a: 1, b: x}}`, want: `{"apiVersion":"v1","kind":"Secret","stringData":{"a":1,"b":"x"}}`},
		"List":     {reason: "The API server reports another type.", text: secret + `stringData: [a]}`, want: `{"apiVersion":"v1","kind":"Secret","stringData":["a"]}`},
		"DataList": {reason: "The API server reports data of another type.", text: secret + `data: [a], stringData: {a: x}}`, want: `{"apiVersion":"v1","data":["a"],"kind":"Secret","stringData":{"a":"x"}}`},
		"NullData": {reason: "Data can be null.", text: secret + `data: null, stringData: {a: x}}`, want: `{"apiVersion":"v1","data":{"a":"eA=="},"kind":"Secret"}`},
		"Other": {
			reason: "Only Secrets have this field.", text: "{apiVersion: example.org/v1, kind: Secret, metadata: {name: a}, stringData: {a: x}}",
			want: `{"apiVersion":"example.org/v1","kind":"Secret","stringData":{"a":"x"}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := New(fromYAML(t, tc.text), "web", StageConfiguration)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(o.Rest)); diff != "" {
				t.Errorf("\n%s\nNew(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	one, err := New(fromYAML(t, secret+"stringData: {a: x}}"), "web", StageConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("03cbec58d3fc7120", one.Hash); diff != "" {
		t.Errorf("the hash in inventories changed: -want, +got:\n%s", diff)
	}
}
