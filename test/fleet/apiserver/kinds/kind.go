// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// A Kind is a kind in one version.
type Kind struct {
	schema.GroupVersionKind

	// Resource and Singular are the names in URLs and for users.
	Resource, Singular string
	// List is the kind of lists.
	List                   string
	ShortNames, Categories []string
	Namespaced             bool
	// HasStatus and HasScale specify the subresources, and HasGeneration whether changes are counted in metadata.generation.
	HasStatus, HasScale, HasGeneration bool
	// Unconditional means that an update does not need a resource version.
	Unconditional bool
	// ReturnsDeleted means that the response to a deletion is the deleted object instead of a status.
	ReturnsDeleted bool
	// Custom is nil for built-in kinds.
	Custom *Custom
}

// GroupResource returns the resource, which is the same for all versions of the kind.
func (k *Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// Types returns the types of the fields of the kind.
func (k *Kind) Types() managedfields.TypeConverter {
	if k.Custom != nil {
		return k.Custom.types
	}
	return builtinTypes()
}

// Canonical returns an object in the form in which it is stored: with defaults, and without unknown fields, nulls and managedFields.
// It returns an error for a field of a wrong type. It can change the argument.
func (k *Kind) Canonical(object map[string]any) (map[string]any, error) {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	if k.Custom != nil {
		return k.Custom.canonical(object)
	}
	return k.builtinCanonical(object)
}

// A Path is the first part of a URL path and the resource.
type Path struct {
	schema.GroupVersion

	Resource string
}

// A Set is the kinds that a cluster serves, by their paths. It is immutable.
type Set struct {
	kinds     map[Path]*Kind
	resources map[schema.GroupResource]*Kind
	// next is searched for a path that is not in kinds.
	next *Set
}

// Find returns a kind, or nil.
func (s *Set) Find(p Path) *Kind {
	for ; s != nil; s = s.next {
		if k := s.kinds[p]; k != nil {
			return k
		}
	}
	return nil
}

// With returns a set that also contains other kinds.
func (s *Set) With(kinds []*Kind) *Set {
	if len(kinds) == 0 {
		return s
	}
	out := &Set{kinds: map[Path]*Kind{}, resources: map[schema.GroupResource]*Kind{}, next: s}
	for _, k := range kinds {
		out.kinds[Path{GroupVersion: k.GroupVersion(), Resource: k.Resource}] = k
		out.resources[k.GroupResource()] = k
	}
	return out
}

// Of returns a kind of a set by the resource, in any version, or nil.
func (s *Set) Of(r schema.GroupResource) *Kind {
	for ; s != nil; s = s.next {
		if k := s.resources[r]; k != nil {
			return k
		}
	}
	return nil
}

// All returns the kinds in no order.
func (s *Set) All() []*Kind {
	var out []*Kind
	for ; s != nil; s = s.next {
		for _, k := range s.kinds {
			out = append(out, k)
		}
	}
	return out
}
