// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// foreignFields are the leaves that others set, and that are not ours too.
func foreignFields(managed []metav1.ManagedFieldsEntry) *fieldpath.Set {
	theirs := &fieldpath.Set{}
	for i := range managed {
		e := &managed[i]
		if e.Subresource != "" || e.FieldsV1 == nil || (e.Manager == FieldManager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		if s := fieldset.Of(e.FieldsV1); s != nil {
			theirs = theirs.Union(s)
		}
	}
	if ours := fieldset.Of(ownedFields(managed)); ours != nil {
		theirs = theirs.Difference(ours)
	}
	return theirs.Leaves()
}

// withoutForeign is a custom resource without the fields that its users set since it was created: applying it leaves
// those as they are. What was intended stays the same.
func withoutForeign(o *object, managed []metav1.ManagedFieldsEntry) (*object, error) {
	return o.cut(foreignFields(managed))
}

// cut fields out of what is applied. What was intended stays the same.
func (o *object) cut(fields *fieldpath.Set) (*object, error) {
	if fields.Empty() {
		return o, nil
	}
	out := *o
	for _, part := range []struct {
		name string
		json *[]byte
	}{{name: "metadata", json: &out.meta}, {json: &out.rest}} {
		s := fields
		if part.name != "" {
			s = fields.WithPrefix(fieldpath.PathElement{FieldName: &part.name})
		}
		var v any
		// This one keeps whole numbers whole.
		if err := json.Unmarshal(*part.json, &v); err != nil {
			return nil, errors.Wrap(err, "cannot read")
		}
		b, err := encode(fieldset.Without(v, s))
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode")
		}
		*part.json = b
	}
	return &out, nil
}
