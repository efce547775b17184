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

func TestObjectBody(t *testing.T) {
	u := fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: x, resourceVersion: "7", generation: 2, creationTimestamp: null,
		managedFields: [], labels: {a: <b>}}, data: {k: "&"}, status: {x: y}}`)
	o, err := New(u, "web", StageConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	for create, version := range map[bool]string{true: `"resourceVersion":"1",`, false: ""} {
		want := `{"metadata":{` + version + `"labels":{"a":"<b>"},"name":"a"},"apiVersion":"v1","data":{"k":"&"},"kind":"ConfigMap"}`
		got := string(o.Body(create))
		if diff := cmp.Diff(want, got); diff != "" || !json.Valid([]byte(got)) {
			t.Errorf("create %v: -want, +got:\n%s", create, diff)
		}
	}
	other, err := New(fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: <b>}}, data: {k: "&"}}`), "web", StageConfiguration)
	if err != nil || other.Hash != o.Hash {
		t.Errorf("what the server sets is not part of the intent: %s, %s, %v", o.Hash, other.Hash, err)
	}
}
