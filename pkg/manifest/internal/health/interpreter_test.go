// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestInterpreter(t *testing.T) {
	const fields = `{"f:data":{"f:a":{}}}`
	owned := fieldset.Hash(&metav1.FieldsV1{Raw: []byte(fields)})
	m := &metav1.PartialObjectMetadata{}
	m.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}},
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
	u.SetManagedFields(m.ManagedFields)
	type want struct{ selector, owned string }
	cases := map[string]struct {
		reason string
		id     object.Identity
		want   want
	}{
		"Default": {
			reason: "Fields that another engine applied do not belong to this one.", id: object.DefaultIdentity(),
			want: want{selector: "operator.kyma-project.io/managed-by=provider-kyma"},
		},
		"Other": {
			reason: "Fields that this engine applied do.", id: object.Identity{FieldManager: "other", ManagedBy: "label"},
			want: want{selector: "operator.kyma-project.io/managed-by=label", owned: owned},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i := Interpreter{Identity: tc.id}
			if got := i.Selector(); got != tc.want.selector {
				t.Errorf("\n%s\nSelector(): want %s, got %s", tc.reason, tc.want.selector, got)
			}
			for what, s := range map[string]cluster.ObjectState{"State": i.State(u), "MetadataState": i.MetadataState(m)} {
				if s.Owned != tc.want.owned {
					t.Errorf("\n%s\n%s(...).Owned: want %q, got %q", tc.reason, what, tc.want.owned, s.Owned)
				}
			}
			if again := (Interpreter{Identity: tc.id}); again != i {
				t.Errorf("\n%s\ninterpreters of one identity must be equal", tc.reason)
			}
		})
	}
}
