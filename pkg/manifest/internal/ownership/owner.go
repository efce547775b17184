// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Relation says how an existing object relates to the bundle that contains it.
type Relation int

// The relations.
const (
	// Ours means that the bundle applied the object. It may come from an interrupted call, or have lost its label.
	Ours Relation = iota
	// Adoptable means that the bundle adopts the object.
	Adoptable
	// Unowned means that the object does not belong to a bundle.
	Unowned
	// OfAnother means that the object belongs to another bundle.
	OfAnother
)

// Relate returns how an existing object relates to the bundle with an ApplySet ID. The UID is that of the object that the bundle
// applied, or empty. Adopts says whether the bundle adopts objects from the current owner of this one.
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
