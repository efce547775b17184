// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestWithoutFieldsOfOthers(t *testing.T) {
	managed := func(manager, op, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationType(op), Subresource: subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
		}
	}
	cases := map[string]struct {
		reason  string
		managed []metav1.ManagedFieldsEntry
		want    string
	}{
		"None":  {reason: "Without other managers, all fields are applied.", want: `{"a":1,"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["p","q"]}`},
		"Field": {reason: "A field that a user set is removed.", managed: []metav1.ManagedFieldsEntry{managed("u", "Update", "", `{"f:spec":{"f:a":{}}}`)}, want: `{"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["p","q"]}`},
		"Shared": {
			reason:  "A field that the engine also owns is applied.",
			managed: []metav1.ManagedFieldsEntry{managed("u", "Apply", "", `{"f:spec":{"f:a":{}}}`), managed(us, "Apply", "", `{"f:spec":{"f:a":{}}}`)},
			want:    `{"a":1,"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["p","q"]}`,
		},
		"Default": {
			reason:  "Another engine is another manager.",
			managed: []metav1.ManagedFieldsEntry{managed(object.DefaultFieldManager, "Apply", "", `{"f:spec":{"f:a":{}}}`)},
			want:    `{"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["p","q"]}`,
		},
		"Status": {reason: "Fields of the status subresource do not count.", managed: []metav1.ManagedFieldsEntry{managed("u", "Update", "status", `{"f:spec":{"f:a":{}}}`)}, want: `{"a":1,"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["p","q"]}`},
		"Key":    {reason: "A field of an item is removed, but not the item.", managed: []metav1.ManagedFieldsEntry{managed("u", "Update", "", `{"f:spec":{"f:l":{"k:{\"name\":\"x\"}":{"f:v":{}}}}}`)}, want: `{"a":1,"l":[{"name":"x"},{"name":"z","v":2}],"s":["p","q"]}`},
		"Item":   {reason: "An item of a keyed list can belong to a user.", managed: []metav1.ManagedFieldsEntry{managed("u", "Update", "", `{"f:spec":{"f:l":{"k:{\"name\":\"x\"}":{}}}}`)}, want: `{"a":1,"l":[{"name":"z","v":2}],"s":["p","q"]}`},
		"Value":  {reason: "An item of a set can belong to a user.", managed: []metav1.ManagedFieldsEntry{managed("u", "Update", "", `{"f:spec":{"f:s":{"v:\"p\"":{}}}}`)}, want: `{"a":1,"l":[{"name":"x","v":1},{"name":"z","v":2}],"s":["q"]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "g/v1", "kind": "K", "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{
					"a": int64(1), "s": []any{"p", "q"},
					"l": []any{map[string]any{"name": "x", "v": int64(1)}, map[string]any{"name": "z", "v": int64(2)}},
				},
			}}
			o, err := object.New(u, "resource", object.StageResource)
			if err != nil {
				t.Fatal(err)
			}
			got, err := WithoutFieldsOfOthers(us, &o, tc.managed)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"apiVersion":"g/v1","kind":"K","spec":` + tc.want + `}`
			if diff := cmp.Diff(want, string(got.Rest)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if got.Hash != o.Hash || string(got.Metadata) != `{"name":"a"}` {
				t.Errorf("\n%s\nintent %s, metadata %s", tc.reason, got.Hash, got.Metadata)
			}
		})
	}
	index := 1
	s := fieldpath.NewSet(fieldpath.Path{{Index: &index}})
	if diff := cmp.Diff([]any{"a", "c"}, fieldset.Without([]any{"a", "b", "c"}, s)); diff != "" {
		t.Errorf("by index: -want, +got:\n%s", diff)
	}
}

func TestIsAppliedBy(t *testing.T) {
	cases := map[string]struct {
		reason string
		entry  metav1.ManagedFieldsEntry
		want   bool
	}{
		"Ours":        {reason: "The engine applied the fields.", entry: metav1.ManagedFieldsEntry{Manager: us, Operation: "Apply"}, want: true},
		"Default":     {reason: "Another engine applied the fields.", entry: metav1.ManagedFieldsEntry{Manager: object.DefaultFieldManager, Operation: "Apply"}},
		"Update":      {reason: "The fields were updated, not applied.", entry: metav1.ManagedFieldsEntry{Manager: us, Operation: "Update"}},
		"Subresource": {reason: "The fields were applied to a subresource.", entry: metav1.ManagedFieldsEntry{Manager: us, Operation: "Apply", Subresource: "status"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsAppliedBy(us, &tc.entry); got != tc.want {
				t.Errorf("\n%s\nIsAppliedBy(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestHoldersOf(t *testing.T) {
	const path = `{"f:data":{"f:a":{}}}`
	entry := func(manager string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: &metav1.FieldsV1{Raw: []byte(path)}}
	}
	managed := []metav1.ManagedFieldsEntry{entry(us), entry(object.DefaultFieldManager)}
	cases := map[string]struct {
		reason, manager, want string
	}{
		"Ours":    {reason: "The other engine has changed the field.", manager: us, want: object.DefaultFieldManager},
		"Default": {reason: "For the other engine, this engine has changed the field.", manager: object.DefaultFieldManager, want: us},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := holdersOf(tc.manager, managed)
			if got := h.of(fieldset.Parse(path)); got != tc.want {
				t.Errorf("\n%s\nholdersOf(%s, ...).of(...): want %s, got %s", tc.reason, tc.manager, tc.want, got)
			}
		})
	}
}
