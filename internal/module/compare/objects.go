// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// An ObjectChange is an object that was added, removed or changed.
type ObjectChange struct {
	Change    string        `json:"change"`
	Group     string        `json:"group,omitempty"`
	Kind      string        `json:"kind"`
	Namespace string        `json:"namespace,omitempty"`
	Name      string        `json:"name"`
	Fields    []FieldChange `json:"fields,omitempty"` // Only of a changed object.
}

// Title returns "Kind namespace/name", without the namespace if there is none.
func (o *ObjectChange) Title() string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

type key struct {
	group, kind, namespace, name string
}

func keyOf(u *unstructured.Unstructured) key {
	gvk := u.GroupVersionKind()
	return key{gvk.Group, gvk.Kind, u.GetNamespace(), u.GetName()}
}

// Objects returns the objects that differ, sorted by kind, namespace and name. Two objects are the same if group, kind,
// namespace and name are equal; another version is a change of the field apiVersion.
func Objects(from, to []*unstructured.Unstructured) []ObjectChange {
	before := index(from)
	after := index(to)
	var out []ObjectChange
	for k, a := range before {
		b, ok := after[k]
		if !ok {
			out = append(out, k.change(Removed, nil))
			continue
		}
		if f := fields(a.Object, b.Object, redacts(a)); len(f) > 0 {
			out = append(out, k.change(Changed, f))
		}
	}
	for k := range after {
		if _, ok := before[k]; !ok {
			out = append(out, k.change(Added, nil))
		}
	}
	slices.SortFunc(out, func(a, b ObjectChange) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Group, b.Group))
	})
	return out
}

func index(objects []*unstructured.Unstructured) map[key]*unstructured.Unstructured {
	out := make(map[key]*unstructured.Unstructured, len(objects))
	for _, u := range objects {
		out[keyOf(u)] = u
	}
	return out
}

func (k key) change(what string, f []FieldChange) ObjectChange {
	return ObjectChange{Change: what, Group: k.group, Kind: k.kind, Namespace: k.namespace, Name: k.name, Fields: f}
}

// lastApplied is the path of the copy of the whole object that kubectl apply stores.
const lastApplied = `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`

// redacts returns a function that reports whether a field of an object is hidden.
func redacts(u *unstructured.Unstructured) func(path string) bool {
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return func(string) bool { return false }
	}
	return func(path string) bool {
		// A change of all annotations may contain the copy.
		return slices.Contains([]string{"data", "stringData", "metadata.annotations", lastApplied}, path) ||
			below(path, "data") || below(path, "stringData")
	}
}

func below(path, field string) bool {
	return strings.HasPrefix(path, field+".") || strings.HasPrefix(path, field+"[")
}

// A VersionChange is a version of a CRD that is newly served, or that has stopped being served.
type VersionChange struct {
	Change  string `json:"change"`
	CRD     string `json:"definition"` // Name of the CustomResourceDefinition.
	Version string `json:"version"`
}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // Constant.

// Versions returns the versions that CRDs have started or stopped serving, sorted. It ignores CRDs that are in only one
// of the lists.
func Versions(from, to []*unstructured.Unstructured) []VersionChange {
	after := index(to)
	var out []VersionChange
	for k, a := range index(from) {
		b, ok := after[k]
		if !ok || a.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		had, has := served(a), served(b)
		for _, v := range had {
			if !slices.Contains(has, v) {
				out = append(out, VersionChange{Change: Removed, CRD: k.name, Version: v})
			}
		}
		for _, v := range has {
			if !slices.Contains(had, v) {
				out = append(out, VersionChange{Change: Added, CRD: k.name, Version: v})
			}
		}
	}
	slices.SortFunc(out, func(a, b VersionChange) int {
		return cmp.Or(cmp.Compare(a.CRD, b.CRD), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Change, b.Change))
	})
	return out
}

func served(u *unstructured.Unstructured) []string {
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	var out []string
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if name, _ := m["name"].(string); name != "" && m["served"] == true {
			out = append(out, name)
		}
	}
	return out
}

// Sets returns the items that are only in to and only in from, sorted and without duplicates.
func Sets(from, to []string) (added, removed []string) {
	for _, s := range to {
		if !slices.Contains(from, s) {
			added = append(added, s)
		}
	}
	for _, s := range from {
		if !slices.Contains(to, s) {
			removed = append(removed, s)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return slices.Compact(added), slices.Compact(removed)
}
