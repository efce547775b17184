// SPDX-License-Identifier: Apache-2.0

package health

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An Interpreter implements cluster.Interpreter for an Engine. It is comparable: interpreters with the same identity are equal.
type Interpreter struct{ Identity object.Identity }

var _ cluster.Interpreter = Interpreter{}

// Selector returns the label selector of the objects that the engine installs.
func (i Interpreter) Selector() string { return object.LabelManagedBy + "=" + i.Identity.ManagedBy }

// NeedsStatus returns the result of the function NeedsStatus.
func (Interpreter) NeedsStatus(gk schema.GroupKind) bool { return NeedsStatus(gk) }

// State returns the result of StateOf for the field manager of the identity.
func (i Interpreter) State(u *unstructured.Unstructured) cluster.ObjectState {
	return StateOf(i.Identity.FieldManager, u)
}

// Content returns the result of the function Content.
func (Interpreter) Content(u *unstructured.Unstructured) [6]byte { return Content(u) }

// MetadataState returns the result of MetadataStateOf for the field manager of the identity.
func (i Interpreter) MetadataState(m *metav1.PartialObjectMetadata) cluster.ObjectState {
	return MetadataStateOf(i.Identity.FieldManager, m)
}
