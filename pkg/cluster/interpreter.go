// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Interpreter determines which objects a Cache watches, and what it keeps of them. The engine uses
// manifest.Interpreter.
type Interpreter interface {
	// Selector returns the label selector of the objects to watch.
	Selector() string

	// NeedsStatus reports whether the state of objects of a kind depends on more than their metadata.
	NeedsStatus(gk schema.GroupKind) bool

	// State returns the state of an object.
	State(u *unstructured.Unstructured) ObjectState

	// Content returns a hash of an object without its metadata.
	Content(u *unstructured.Unstructured) [6]byte

	// MetadataState returns the state of an object from its metadata. Its kind must be one for which NeedsStatus is false.
	MetadataState(m *metav1.PartialObjectMetadata) ObjectState
}
