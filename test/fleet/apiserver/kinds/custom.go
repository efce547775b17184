// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"encoding/json"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Custom is what a CRD adds to a kind.
type Custom struct {
	schema *structural.Structural
	types  managedfields.TypeConverter
}

// canonical returns an object without unknown fields and nulls, and with defaults.
func (c *Custom) canonical(object map[string]any) (map[string]any, error) {
	raw, ok := object["metadata"].(map[string]any)
	if !ok {
		raw = map[string]any{}
	}
	// As a custom resource is decoded, its metadata gets the form of the Go type.
	metadata, err := canonicalMetadata(raw)
	if err != nil {
		return nil, err
	}
	object["metadata"] = metadata
	if c.schema == nil {
		return object, nil
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, c.schema)
	pruning.Prune(object, c.schema, true)
	defaulting.Default(object, c.schema)
	return object, nil
}

// parsed caches the kinds of CRDs by the JSON of their specs, because many clusters have the same CRDs.
var parsed sync.Map

// OfCRD returns the served kinds of a CRD.
func OfCRD(object map[string]any) ([]*Kind, error) {
	key, err := json.Marshal(object["spec"])
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	if known, ok := parsed.Load(string(key)); ok {
		return known.([]*Kind), nil //nolint:forcetypeassert // Nothing else is stored.
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, crd); err != nil {
		return nil, err
	}
	var out []*Kind
	for i := range crd.Spec.Versions {
		if !crd.Spec.Versions[i].Served {
			continue
		}
		k, err := ofVersion(crd, &crd.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	known, _ := parsed.LoadOrStore(string(key), out)
	return known.([]*Kind), nil //nolint:forcetypeassert // Nothing else is stored.
}

func ofVersion(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) (*Kind, error) {
	names := crd.Spec.Names
	k := &Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: names.Kind},
		Resource:         names.Plural, Singular: names.Singular, List: names.ListKind, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped, HasGeneration: true,
		HasStatus: v.Subresources != nil && v.Subresources.Status != nil,
		HasScale:  v.Subresources != nil && v.Subresources.Scale != nil,
		Custom:    &Custom{},
	}
	if k.Singular == "" {
		k.Singular = strings.ToLower(k.Kind)
	}
	if k.List == "" {
		k.List = k.Kind + "List"
	}
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
			return nil, errors.Wrap(err, "cannot convert the schema")
		}
		var err error
		if k.Custom.schema, err = structural.NewStructural(internal); err != nil {
			return nil, errors.Wrap(err, "the schema is not structural")
		}
		s = k.Custom.schema.ToKubeOpenAPI()
	}
	types, err := typesFor(k, s)
	k.Custom.types = types
	return k, errors.Wrap(err, "cannot use the schema")
}
