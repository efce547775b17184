// SPDX-License-Identifier: Apache-2.0

package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A Live object is an object that exists in the cluster.
type Live struct {
	*metav1.PartialObjectMetadata

	// Object is the whole object in a dry run or if Use is true, and nil otherwise.
	Object *unstructured.Unstructured
	// Use is true for a CRD of another owner that is used as it is.
	Use bool
}

// A Kind is the kind of an outcome.
type Kind int

// Kinds of outcomes.
const (
	// Unchanged means that there is nothing to do.
	Unchanged Kind = iota
	// Created and Updated mean that the object was applied.
	Created
	Updated
	// Immutable means that the object must be deleted and created again, which Applier.Recreate does.
	Immutable
	// Deleting means that the object is being deleted, or was deleted in the meantime. It can be created after that.
	Deleting
	// Used means that the object is a CRD of another owner, which the bundle uses as it is.
	Used
)

// An Outcome is the result of applying one object.
type Outcome struct {
	Kind Kind
	// State is the state of the object after it was applied.
	State cluster.ObjectState
	// Before is the metadata of the object before it was applied, or nil if it was not read.
	Before *metav1.PartialObjectMetadata
	// Lost contains the fields that other managers had taken or removed. Ceded contains the fields that are left to them.
	Lost  *fieldpath.Set
	Ceded []ownership.Ceded
	// Owned is the hash of the fields that the engine owns, if it took ownership of fields without applying the object. Otherwise it
	// is empty. It is valid even if there is an error.
	Owned string
	// Fields contains the paths of the fields that a dry run would change, or of the fields that cannot be changed.
	Fields []string
	// Note contains additional information from a dry run, for example about a namespace that would be created.
	Note string
	// Use describes a CRD whose outcome is Used. Owner is the name of its owner if the owner is known and new.
	Use   *inventory.Use
	Owner string
}

// IsAdopted reports whether the object existed before the ApplySet with the given ID applied it for the first time. If an
// object has the label of the ApplySet, it was applied by an earlier call whose outcome is unknown, so its entry in the
// inventory decides.
func (o *Outcome) IsAdopted(entry bool, set string) bool {
	switch {
	case o.Kind == Created || o.Before == nil:
		return false
	case o.Before.Labels[object.LabelPartOf] == set:
		return entry
	}
	// Earlier, the ApplySet kept an object that it had created itself.
	keptOwn := o.Before.Annotations[object.AnnotationKeptBy] == set && o.Before.Annotations[object.AnnotationAdopted] == ""
	return !keptOwn
}

// isDeleting reports whether an object is being deleted or is gone.
func isDeleting(l *Live) bool { return l == nil || l.DeletionTimestamp != nil }

// deleting returns the outcome for an object that is being deleted or is gone.
func deleting(l *Live) Outcome {
	out := Outcome{Kind: Deleting}
	if l != nil {
		out.Before = l.PartialObjectMetadata
	}
	return out
}

// metadataOf returns the part of the metadata of an object on which decisions depend.
func metadataOf(u *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
		ManagedFields: u.GetManagedFields(), DeletionTimestamp: u.GetDeletionTimestamp(), ResourceVersion: u.GetResourceVersion(),
	}}
}
