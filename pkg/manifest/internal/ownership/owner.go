// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Relation describes how an existing object relates to the bundle that contains it.
type Relation int

// These are the relations of an object to the bundle.
const (
	// Ours means that the bundle applied the object, perhaps in an interrupted call. The object may have lost its label.
	Ours Relation = iota
	// Adoptable means that the bundle adopts the object.
	Adoptable
	// Unowned means that the object does not belong to a bundle.
	Unowned
	// OfAnother means that the object belongs to another bundle.
	OfAnother
)

// Relate returns how an existing object relates to the bundle with the given ApplySet ID. The UID is the UID of the object that
// the bundle applied, or empty. Adopts is true if the bundle adopts objects from the current owner of the object.
func Relate(m *metav1.PartialObjectMetadata, id, uid string, adopts bool) Relation {
	owner := m.Labels[object.LabelPartOf]
	switch {
	case adopts:
		return Adoptable
	case owner == id:
		return Ours
	case owner != "":
		return OfAnother
	case uid != "" && uid == string(m.UID):
		return Ours
	}
	return Unowned
}
