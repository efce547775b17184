// SPDX-License-Identifier: Apache-2.0

package health

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Interpreter is the cluster.Interpreter of an Engine. It is comparable: interpreters of the same identity are equal.
type Interpreter struct{ Identity object.Identity }

var _ cluster.Interpreter = Interpreter{}

// Selector returns the label selector of the objects that the engine installs.
func (i Interpreter) Selector() string { return object.LabelManagedBy + "=" + i.Identity.ManagedBy }

// NeedsStatus calls the function NeedsStatus.
func (Interpreter) NeedsStatus(gk schema.GroupKind) bool { return NeedsStatus(gk) }

// State calls StateOf.
func (i Interpreter) State(u *unstructured.Unstructured) cluster.ObjectState {
	return StateOf(i.Identity.FieldManager, u)
}

// MetadataState calls MetadataStateOf.
func (i Interpreter) MetadataState(m *metav1.PartialObjectMetadata) cluster.ObjectState {
	return MetadataStateOf(i.Identity.FieldManager, m)
}
