// SPDX-License-Identifier: Apache-2.0

package fieldset

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Without returns a value without the leaves of a set. It changes maps in place. It matches items of lists by the keys that
// identify them.
func Without(v any, s *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			pe := fieldpath.PathElement{FieldName: &k}
			if s.Members.Has(pe) {
				delete(v, k)
				continue
			}
			if sub := s.WithPrefix(pe); !sub.Empty() {
				v[k] = Without(v[k], sub)
				// An empty map or list would be applied as an empty value.
				if empty(v[k]) {
					delete(v, k)
				}
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

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// withoutItem returns an item of a list without the leaves of a set, and false if the set contains the whole item.
func withoutItem(item any, index int, s *fieldpath.Set) (any, bool) {
	gone, sub := false, &fieldpath.Set{}
	s.Members.Iterate(func(pe fieldpath.PathElement) { gone = gone || identifies(&pe, item, index) })
	s.Children.Iterate(func(pe fieldpath.PathElement) {
		if identifies(&pe, item, index) {
			sub = s.WithPrefix(pe)
			// The API server rejects an item without its key. Clients cannot take over only the key, so the whole item was taken over.
			gone = gone || loses(&pe, sub)
		}
	})
	if gone || sub.Empty() {
		return item, !gone
	}
	return Without(item, sub), true
}

// loses reports whether an item of a list would lose a field of its key.
func loses(pe *fieldpath.PathElement, s *fieldpath.Set) bool {
	if pe.Key == nil {
		return false
	}
	for i := range *pe.Key {
		if s.Members.Has(fieldpath.PathElement{FieldName: &(*pe.Key)[i].Name}) {
			return true
		}
	}
	return false
}
