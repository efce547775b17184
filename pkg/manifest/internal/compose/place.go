// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// setNamespace sets the namespace of an object: none for cluster-scoped kinds, and the namespace of the installation for objects
// that do not specify one. The installation is nil for objects of other parts, which get the default namespace.
func setNamespace(u *unstructured.Unstructured, namespaced bool, in *Installation) {
	switch {
	case !namespaced:
		u.SetNamespace("")
	case u.GetNamespace() != "":
	case in != nil:
		u.SetNamespace(in.Namespace)
	default:
		u.SetNamespace("default")
	}
}

// holdsInventories reports whether an object is the namespace of all inventories, which many modules include. This namespace
// belongs to no bundle, because the removal of that bundle would delete the inventories of all bundles. See NamespaceMetadata.
func holdsInventories(u *unstructured.Unstructured, namespace string) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Namespace"} && u.GetName() == namespace
}

// desire returns an object of the component as it is applied. It takes ownership of u, whose namespace must be set. The parameter
// m is the mapping of its kind.
func (c *Component) desire(u *unstructured.Unstructured, m cluster.Mapping, labels map[string]string) (object.Desired, error) {
	in := c.Installation
	if in != nil && !in.Release.IsZero() {
		object.AddRelease(u, in.Release.Name, in.Release.Namespace)
	}
	object.AddLabels(u, labels)
	s := object.StageOf(u.GroupVersionKind().GroupKind())
	if c.Resource != nil {
		s = object.StageResource
	}
	o, err := object.New(u, c.Name, s)
	if err != nil {
		return object.Desired{}, err
	}
	o.KeepNamespaces = in != nil && in.KeepNamespaces
	o.Recreate = in != nil && in.Config.Force
	o.CRD = m.Resource + "." + o.Ref.Group
	return o, nil
}
