// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// crdTypes converts CRDs itself, because the parser of client-go does not contain their type.
type crdTypes struct{ managedfields.TypeConverter }

// ObjectToTyped returns the typed value of an object.
func (c crdTypes) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if o.GetObjectKind().GroupVersionKind() == apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return typesOfCRDs().ObjectToTyped(o, opts...)
	}
	return c.TypeConverter.ObjectToTyped(o, opts...)
}

// objectMeta is the name of the schema of metadata.
const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// The following functions build the schemas from which the types of fields are derived.

func scalar(kind string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{kind}}}
}

func object(properties map[string]spec.Schema) spec.Schema {
	s := scalar("object")
	s.Properties = properties
	return s
}

func mapOf(value spec.Schema) spec.Schema {
	s := scalar("object")
	s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &value}
	return s
}

func listOf(item spec.Schema, kind string, keys ...any) spec.Schema {
	s := scalar("array")
	s.Items = &spec.SchemaOrArray{Schema: &item}
	s.AddExtension("x-kubernetes-list-type", kind)
	if len(keys) > 0 {
		s.AddExtension("x-kubernetes-list-map-keys", keys)
	}
	return s
}

func atomic(s spec.Schema) spec.Schema {
	s.AddExtension("x-kubernetes-map-type", "atomic")
	return s
}

// anything is a value without a schema.
func anything() spec.Schema {
	s := spec.Schema{}
	s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	return s
}

// metadataSchema returns the schema of metadata.
func metadataSchema() spec.Schema {
	text, number := scalar("string"), scalar("integer")
	owner := atomic(object(map[string]spec.Schema{
		"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": scalar("boolean"), "blockOwnerDeletion": scalar("boolean"),
	}))
	return object(map[string]spec.Schema{
		"name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text, "resourceVersion": text,
		"creationTimestamp": text, "deletionTimestamp": text, "generation": number, "deletionGracePeriodSeconds": number,
		"labels": mapOf(text), "annotations": mapOf(text), "finalizers": listOf(text, "set"),
		"ownerReferences": listOf(owner, "map", "uid"),
		"managedFields":   listOf(anything(), "atomic"),
	})
}

// typesFor returns the types of the fields of a kind with a schema.
func typesFor(k *Kind, s *spec.Schema) (managedfields.TypeConverter, error) {
	s.SetProperty("apiVersion", scalar("string"))
	s.SetProperty("kind", scalar("string"))
	s.SetProperty("metadata", *spec.RefSchema("#/definitions/" + objectMeta))
	s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}})
	metadata := metadataSchema()
	return managedfields.NewTypeConverter(map[string]*spec.Schema{k.Kind: s, objectMeta: &metadata}, false)
}

// typesOfCRDs returns the types of the fields of CRDs.
var typesOfCRDs = sync.OnceValue(func() managedfields.TypeConverter {
	text, yes := scalar("string"), scalar("boolean")
	names := object(map[string]spec.Schema{
		"plural": text, "singular": text, "kind": text, "listKind": text, "shortNames": listOf(text, "atomic"), "categories": listOf(text, "atomic"),
	})
	column := object(map[string]spec.Schema{
		"name": text, "type": text, "format": text, "description": text, "priority": scalar("integer"), "jsonPath": text,
	})
	subresources := object(map[string]spec.Schema{
		"status": anything(),
		"scale":  object(map[string]spec.Schema{"specReplicasPath": text, "statusReplicasPath": text, "labelSelectorPath": text}),
	})
	version := object(map[string]spec.Schema{
		"name": text, "served": yes, "storage": yes, "deprecated": yes, "deprecationWarning": text,
		"schema":       object(map[string]spec.Schema{"openAPIV3Schema": anything()}),
		"subresources": subresources, "additionalPrinterColumns": listOf(column, "atomic"),
		"selectableFields": listOf(object(map[string]spec.Schema{"jsonPath": text}), "atomic"),
	})
	condition := object(map[string]spec.Schema{
		"type": text, "status": text, "reason": text, "message": text, "lastTransitionTime": text, "observedGeneration": scalar("integer"),
	})
	crd := object(map[string]spec.Schema{
		"spec": object(map[string]spec.Schema{
			"group": text, "scope": text, "preserveUnknownFields": yes, "names": names, "versions": listOf(version, "atomic"),
			"conversion": object(map[string]spec.Schema{"strategy": text, "webhook": anything()}),
		}),
		"status": object(map[string]spec.Schema{
			"conditions": listOf(condition, "map", "type"), "acceptedNames": names, "storedVersions": listOf(text, "atomic"),
			"observedGeneration": scalar("integer"),
		}),
	})
	k := &Kind{GroupVersionKind: apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")}
	types, err := typesFor(k, &crd)
	if err != nil {
		panic(err) // The schema is constant.
	}
	return types
})
