// SPDX-License-Identifier: Apache-2.0

package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A fakeInterpreter extracts the set and the version of objects. Widgets have a status.
type fakeInterpreter struct{}

// labels returns the labels of a watched object in a set.
func labels(set string) map[string]string { return map[string]string{"managed-by": "test", "set": set} }

func (fakeInterpreter) Selector() string { return "managed-by=test" }

func (fakeInterpreter) NeedsStatus(gk schema.GroupKind) bool { return gk == widgets.GroupKind() }

func (fakeInterpreter) State(u *unstructured.Unstructured) cluster.ObjectState { return stateOf(u) }

func (fakeInterpreter) Content(u *unstructured.Unstructured) (hash [6]byte) {
	data, _, _ := unstructured.NestedString(u.Object, "data")
	copy(hash[:], data)
	return hash
}

func (fakeInterpreter) MetadataState(m *metav1.PartialObjectMetadata) cluster.ObjectState {
	return stateOf(m)
}

func stateOf(o metav1.Object) cluster.ObjectState {
	return cluster.ObjectState{
		UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion(), Set: o.GetLabels()["set"], Status: cluster.Current,
	}
}
