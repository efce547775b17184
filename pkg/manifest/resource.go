// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// foreignFields are the leaves that others set, and that are not ours too.
func foreignFields(managed []metav1.ManagedFieldsEntry) *fieldpath.Set {
	theirs := &fieldpath.Set{}
	for i := range managed {
		e := &managed[i]
		if e.Subresource != "" || e.FieldsV1 == nil || (e.Manager == FieldManager && e.Operation == metav1.ManagedFieldsOperationApply) {
			continue
		}
		if s := fieldSet(e.FieldsV1); s != nil {
			theirs = theirs.Union(s)
		}
	}
	if ours := fieldSet(ownedFields(managed)); ours != nil {
		theirs = theirs.Difference(ours)
	}
	return theirs.Leaves()
}

// withoutForeign is a custom resource without the fields that its users set since it was created: applying it leaves
// those as they are. What was intended stays the same.
func withoutForeign(o *object, managed []metav1.ManagedFieldsEntry) (*object, error) {
	theirs := foreignFields(managed)
	if theirs.Empty() {
		return o, nil
	}
	out := *o
	for _, part := range []struct {
		name string
		json *[]byte
	}{{name: "metadata", json: &out.meta}, {json: &out.rest}} {
		s := theirs
		if part.name != "" {
			s = theirs.WithPrefix(fieldpath.PathElement{FieldName: &part.name})
		}
		var v any
		// This one keeps whole numbers whole.
		if err := json.Unmarshal(*part.json, &v); err != nil {
			return nil, errors.Wrap(err, "cannot read")
		}
		b, err := encode(without(v, s))
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode")
		}
		*part.json = b
	}
	return &out, nil
}

// without is a value less the leaves of a set. Lists are cut by what identifies their items.
func without(v any, s *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			pe := fieldpath.PathElement{FieldName: &k}
			if s.Members.Has(pe) {
				delete(v, k)
				continue
			}
			if sub := s.WithPrefix(pe); !sub.Empty() {
				v[k] = without(v[k], sub)
			}
		}
		return v
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			kept, keep := withoutItem(item, i, s)
			if keep {
				out = append(out, kept)
			}
		}
		return out
	}
	return v
}

// withoutItem is an item of a list, unless the item itself is in the set.
func withoutItem(item any, index int, s *fieldpath.Set) (any, bool) {
	gone, sub := false, &fieldpath.Set{}
	identifies := func(pe fieldpath.PathElement) bool {
		switch {
		case pe.Index != nil:
			return *pe.Index == index
		case pe.Value != nil:
			return value.Equals(*pe.Value, value.NewValueInterface(item))
		case pe.Key != nil:
			m, ok := item.(map[string]any)
			for _, f := range *pe.Key {
				ok = ok && value.Equals(f.Value, value.NewValueInterface(m[f.Name]))
			}
			return ok
		}
		return false
	}
	s.Members.Iterate(func(pe fieldpath.PathElement) { gone = gone || identifies(pe) })
	s.Children.Iterate(func(pe fieldpath.PathElement) {
		if identifies(pe) {
			sub = s.WithPrefix(pe)
		}
	})
	if gone || sub.Empty() {
		return item, !gone
	}
	return without(item, sub), true
}
