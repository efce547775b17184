// SPDX-License-Identifier: Apache-2.0

package detach

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An Action is what happens to one object.
type Action string

// These are the actions.
const (
	// None leaves the object as it is: it is gone, belongs to another owner, or is detached already.
	None Action = "none"
	// Detach removes everything that the engine set from the metadata.
	Detach Action = "detach"
	// Mark marks a CRD that other bundles use as used by this one as well, so that they do not delete it.
	Mark Action = "mark"
	// HandOver is like Detach, for a CRD that has this mark. Another bundle becomes its owner.
	HandOver Action = "hand over"
)

// An Identity identifies the metadata that the engine sets.
type Identity struct {
	// Set is the ID of the ApplySet.
	Set string
	// Labels lists the keys of the labels of its members.
	Labels []string
	// FieldManager is the field manager of the engine.
	FieldManager string
}

// Decide returns the action for the object of an entry. Pass nil if the object does not exist. A CRD of another owner keeps the mark that
// the bundle uses it: without the mark, its owner would delete it with the custom resources of the bundle.
func Decide(e *inventory.Entry, m *metav1.PartialObjectMetadata, id Identity) Action {
	if m == nil {
		return None
	}
	owner := m.Labels[object.LabelPartOf]
	switch {
	case owner != id.Set && (owner != "" || e.IsUsed() || string(m.UID) != e.UID):
		return None
	case owner == "" && m.Annotations[object.AnnotationHandedOver] == id.Set, !id.isMarked(m):
		return None
	case len(object.UsersOf(m.Annotations, id.Set)) == 0:
		return Detach
	case m.Annotations[object.UsedBy(id.Set)] == "":
		return Mark
	}
	return HandOver
}

// isMarked reports whether the metadata of an object contains anything that the engine sets.
func (id *Identity) isMarked(m *metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(id.Labels, func(l string) bool { return m.Labels[l] != "" }) ||
		slices.ContainsFunc(id.annotations(), func(a string) bool { return m.Annotations[a] == id.Set }) ||
		slices.ContainsFunc(m.ManagedFields, id.manages)
}

// annotations lists the keys of annotations whose value is the ID of the ApplySet.
func (*Identity) annotations() []string {
	return []string{object.AnnotationKeptBy, object.AnnotationAdopted}
}

// manages reports whether an entry of managedFields belongs to the engine.
func (id *Identity) manages(f metav1.ManagedFieldsEntry) bool { return f.Manager == id.FieldManager }

// patchOf returns the metadata of a merge patch for an object, which only applies to this version of it.
func patchOf(a Action, m *metav1.PartialObjectMetadata, id Identity) map[string]any {
	labels, annotations := map[string]any{}, map[string]any{}
	for _, l := range id.Labels {
		// The label by which the watches of the users select stays.
		if m.Labels[l] != "" && (a != HandOver || l != object.LabelManagedBy) {
			labels[l] = nil
		}
	}
	for _, l := range id.annotations() {
		if m.Annotations[l] == id.Set {
			annotations[l] = nil
		}
	}
	if a == HandOver {
		maps.Copy(annotations, map[string]any{object.AnnotationKeptBy: id.Set, object.AnnotationHandedOver: id.Set})
	}
	fields := slices.DeleteFunc(slices.Clone(m.ManagedFields), id.manages)
	if len(fields) == 0 {
		// An empty list would change nothing.
		fields = []metav1.ManagedFieldsEntry{{}}
	}
	out := map[string]any{"uid": m.UID, "resourceVersion": m.ResourceVersion, "managedFields": fields}
	if len(labels) > 0 {
		out["labels"] = labels
	}
	if len(annotations) > 0 {
		out["annotations"] = annotations
	}
	return out
}
