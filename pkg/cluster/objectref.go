// SPDX-License-Identifier: Apache-2.0

package cluster

import "k8s.io/apimachinery/pkg/runtime/schema"

// An ObjectRef names an object, independent of the version of its kind.
type ObjectRef struct {
	Group, Kind, Namespace, Name string
}

// String returns the kind and the name in the usual notation: Deployment default/web.
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// GroupKind returns the group and the kind of the object.
func (r ObjectRef) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}
