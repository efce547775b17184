// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// foreignFields are the leaves that others set, and that are not ours too.
func foreignFields(managed []metav1.ManagedFieldsEntry) *fieldpath.Set {
	theirs := &fieldpath.Set{}
	for i := range managed {
		e := &managed[i]
		if e.Subresource != "" || e.FieldsV1 == nil || (e.Manager == object.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		if s := fieldset.Of(e.FieldsV1); s != nil {
			theirs = theirs.Union(s)
		}
	}
	if ours := fieldset.Of(fieldset.AppliedBy(object.FieldManager, managed)); ours != nil {
		theirs = theirs.Difference(ours)
	}
	return theirs.Leaves()
}

// withoutForeign is a custom resource without the fields that its users set since it was created: applying it leaves
// those as they are. What was intended stays the same.
func withoutForeign(o *object.Desired, managed []metav1.ManagedFieldsEntry) (*object.Desired, error) {
	return o.Without(foreignFields(managed))
}
