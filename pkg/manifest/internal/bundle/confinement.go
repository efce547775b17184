// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Confinement restricts the objects of a bundle, including hooks. A part with an object that is not allowed is not applied. A
// Confinement does not restrict the removal of objects.
type Confinement struct {
	// Digest identifies the behavior of the functions, and must not be empty. If it changes, all objects are checked and applied again.
	Digest string

	// Namespace returns an error if the bundle must not use a namespace. Nil allows all namespaces.
	Namespace func(name string) error

	// Object returns an error if the bundle must not contain an object. The namespace of the object is set, unless its kind is
	// cluster-scoped. The function must not change the object. Nil allows all objects.
	Object func(u *unstructured.Unstructured) error
}

// Confine returns an error that names the object if the bundle must not contain it. The namespace of the object must be set.
func (b *Bundle) Confine(u *unstructured.Unstructured) error {
	if b.Confinement == nil {
		return nil
	}
	return errors.Wrap(b.Confinement.check(u), object.RefOf(u).String())
}

// check calls the functions for an object.
func (c *Confinement) check(u *unstructured.Unstructured) (err error) {
	defer recoverTo(&err)
	if ns := u.GetNamespace(); ns != "" && c.Namespace != nil {
		if err := c.Namespace(ns); err != nil {
			return errors.Wrap(err, "metadata.namespace")
		}
	}
	if c.Object == nil {
		return nil
	}
	return c.Object(u)
}

// ConfineRelease returns an error if the bundle must not have a Helm release in a namespace.
func (b *Bundle) ConfineRelease(namespace string) (err error) {
	if b.Confinement == nil || b.Confinement.Namespace == nil {
		return nil
	}
	defer recoverTo(&err)
	return errors.Wrap(b.Confinement.Namespace(namespace), "namespace of the release")
}
