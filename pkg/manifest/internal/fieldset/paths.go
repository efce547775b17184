// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"bytes"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Of returns the fields of an entry of managedFields. It returns nil if there are none, or if they cannot be decoded.
func Of(f *metav1.FieldsV1) *fieldpath.Set {
	if f == nil {
		return nil
	}
	s := &fieldpath.Set{}
	if err := s.FromJSON(bytes.NewReader(f.GetRawBytes())); err != nil {
		return nil
	}
	return s
}

// Encode returns a path in the format of managedFields, which Parse reads. For messages, use Text.
func Encode(p fieldpath.Path) string {
	b, err := fieldpath.NewSet(p).ToJSON()
	if err != nil {
		return ""
	}
	return string(b)
}

// Parse returns the path that Encode encoded as s, or nil if s is not a path.
func Parse(s string) fieldpath.Path {
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader([]byte(s))); err != nil {
		return nil
	}
	var out fieldpath.Path
	set.Leaves().Iterate(func(p fieldpath.Path) { out = p.Copy() })
	return out
}

// Text returns a path in the format for users, such as spec.template.spec.containers[name="web"].image.
func Text(p fieldpath.Path) string {
	return strings.TrimPrefix(p.String(), ".")
}

// All returns the paths of a set. Unlike the iterator of the set, the result allows callers to stop early.
func All(s *fieldpath.Set) []fieldpath.Path {
	var out []fieldpath.Path
	s.Iterate(func(p fieldpath.Path) { out = append(out, p.Copy()) })
	return out
}

// Below reports whether a path begins with the given fields.
func Below(p fieldpath.Path, names ...string) bool {
	for i, n := range names {
		if len(p) <= i || p[i].FieldName == nil || *p[i].FieldName != n {
			return false
		}
	}
	return true
}

// Touches reports whether a set contains a path, or any path below it.
func Touches(s *fieldpath.Set, p fieldpath.Path) bool {
	if s.Has(p) {
		return true
	}
	for i := range p {
		s = s.WithPrefix(p[i])
	}
	return !s.Empty()
}

// At returns the value at a path of an object, and false if there is none.
func At(v any, p fieldpath.Path) (any, bool) {
	for i := range p {
		switch v2 := v.(type) {
		case map[string]any:
			if p[i].FieldName == nil {
				return nil, false
			}
			next, ok := v2[*p[i].FieldName]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			found := false
			for n, item := range v2 {
				if identifies(&p[i], item, n) {
					v, found = item, true
					break
				}
			}
			if !found {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return v, true
}

// identifies reports whether an element of a path identifies an item of a list.
func identifies(pe *fieldpath.PathElement, item any, index int) bool {
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
