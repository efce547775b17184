// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// objectTypes defines the type of all kinds. It is the type that Kubernetes assumes for an object without a schema, with the
// fields that each object has.
const objectTypes = `types:
- name: object
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: metadata}}
    - {name: data, type: {namedType: any}}
    - {name: spec, type: {namedType: any}}
    - {name: status, type: {namedType: any}}
    elementType: {namedType: any}
- name: metadata
  map:
    fields:
    - {name: labels, type: {namedType: any}}
    - {name: annotations, type: {namedType: any}}
    elementType: {namedType: any}
- name: atomic
  scalar: untyped
  list: {elementType: {namedType: atomic}, elementRelationship: atomic}
  map: {elementType: {namedType: atomic}, elementRelationship: atomic}
- name: any
  scalar: untyped
  list: {elementType: {namedType: atomic}, elementRelationship: atomic}
  map: {elementType: {namedType: any}, elementRelationship: separable}
`

// A converter converts between objects and typed values.
type converter struct{ of typed.ParseableType }

// newConverter parses objectTypes once and returns the converter.
var newConverter = sync.OnceValues(func() (converter, error) { //nolint:gochecknoglobals // Constant.
	p, err := typed.NewParser(objectTypes)
	if err != nil {
		return converter{}, err
	}
	return converter{of: p.Type("object")}, nil
})

// ObjectToTyped returns the typed value of an object.
func (c converter) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, errors.Errorf("%T", o)
	}
	return c.of.FromUnstructured(u.Object, opts...)
}

// TypedToObject returns the object of a typed value.
func (c converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	m, ok := v.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, errors.Errorf("%T", v.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: m}, nil
}
