// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Interpreter tells a Cache which objects to watch, and what to keep of them. The one of the engine is
// manifest.Interpreter.
type Interpreter interface {
	// Selector returns the label selector of the objects to watch.
	Selector() string

	// NeedsStatus reports whether the state of an object of a kind depends on more than its metadata.
	NeedsStatus(gk schema.GroupKind) bool

	// State returns the state of an object.
	State(u *unstructured.Unstructured) ObjectState

	// MetadataState returns the state of an object of a kind for which NeedsStatus is false.
	MetadataState(m *metav1.PartialObjectMetadata) ObjectState
}
