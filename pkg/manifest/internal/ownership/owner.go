// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Relation says how an object that exists relates to the bundle that wants it.
type Relation int

// The relations.
const (
	// Ours means that the bundle applied the object. It may be from a call that was interrupted, or have lost its label.
	Ours Relation = iota
	// Adoptable means that the bundle takes the object over.
	Adoptable
	// Unowned means that the object belongs to no bundle.
	Unowned
	// OfAnother means that the object belongs to another bundle.
	OfAnother
)

// Relate an object that exists to a bundle with an ApplySet ID. The UID is that of the object that the bundle applied, empty for
// none, and adopts reports whether the bundle takes over objects of the owner that this one has.
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
