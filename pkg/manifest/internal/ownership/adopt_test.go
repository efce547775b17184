// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// us is the field manager of the engine.
const us = "engine"

func TestAdopt(t *testing.T) {
	entry := func(manager, op, version, sub, fields string) metav1.ManagedFieldsEntry {
		f := &metav1.FieldsV1{}
		f.SetRawBytes([]byte(fields))
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationType(op), APIVersion: version, FieldsType: "FieldsV1", Subresource: sub, FieldsV1: f}
	}
	scale := entry("kubectl", "Update", "v1", "scale", `{"f:spec":{"f:replicas":{}}}`)
	other := entry("helm", "Update", "v1beta1", "", `{"f:spec":{"f:old":{}}}`)
	cases := map[string]struct {
		reason string
		in     []metav1.ManagedFieldsEntry
		want   []metav1.ManagedFieldsEntry
	}{
		"None": {reason: "Without a deployer, there is nothing to adopt.", in: []metav1.ManagedFieldsEntry{entry("tuner", "Update", "v1", "", `{"f:data":{}}`)}},
		"Ours": {reason: "The engine already owns everything.", in: []metav1.ManagedFieldsEntry{entry(us, "Apply", "v1", "", `{"f:data":{}}`)}},
		"Member": {
			reason: "An engine with another identity applies the labels of a member.",
			in: []metav1.ManagedFieldsEntry{
				entry("another", "Apply", "v1", "", `{"f:data":{"f:a":{}},"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{},"f:operator.kyma-project.io/managed-by":{}}}}`),
			},
			want: []metav1.ManagedFieldsEntry{
				entry(us, "Apply", "v1", "", `{"f:data":{"f:a":{}},"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{},"f:operator.kyma-project.io/managed-by":{}}}}`),
			},
		},
		"Labelled": {
			reason: "A client that edits the labels is not a deployer.",
			in: []metav1.ManagedFieldsEntry{
				entry("kubectl-label", "Update", "v1", "", `{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{},"f:operator.kyma-project.io/managed-by":{}}}}`),
				entry("tuner", "Apply", "v1", "", `{"f:metadata":{"f:labels":{"f:operator.kyma-project.io/managed-by":{}}}}`),
			},
		},
		"Default": {
			reason: "The default name belongs to another engine.",
			in:     []metav1.ManagedFieldsEntry{entry(object.DefaultFieldManager, "Apply", "v1", "", `{"f:data":{}}`), entry("helm", "Update", "v1", "", `{"f:data":{"f:a":{}}}`)},
			want:   []metav1.ManagedFieldsEntry{entry(us, "Apply", "v1", "", `{"f:data":{"f:a":{}}}`), entry(object.DefaultFieldManager, "Apply", "v1", "", `{"f:data":{}}`)},
		},
		"Union": {
			reason: "All deployers are merged into one entry, without status, finalizers and owners. Subresources and other versions are not adopted.",
			in: []metav1.ManagedFieldsEntry{
				entry("helm", "Update", "v1", "", `{"f:data":{"f:a":{}},"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}},"f:ownerReferences":{},"f:labels":{"f:l":{}}},"f:status":{"f:x":{}}}`),
				scale, other,
				entry("kubectl", "Apply", "v1", "", `{"f:data":{"f:b":{}}}`),
			},
			want: []metav1.ManagedFieldsEntry{
				entry(us, "Apply", "v1", "", `{"f:data":{"f:a":{},"f:b":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`), scale, other,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Adopt(us, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b metav1.FieldsV1) bool { return fieldset.Of(&a).Equals(fieldset.Of(&b)) })); diff != "" {
				t.Errorf("\n%s\nAdopt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
