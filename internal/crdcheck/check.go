// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Check checks objects of one version of a CRD.
type Check struct {
	// Version is the version in which the objects must be read from the API server.
	Version string

	as string
	// old is nil if the previous schema cannot be used.
	old, next *schemaOf
}

// A schemaOf is the compiled schema of one version, which validates objects.
type schemaOf struct {
	structural *structural.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// newSchema compiles the schema of a version; it returns nil for one that accepts everything.
func newSchema(v *apiextensionsv1.CustomResourceValidation) (out *schemaOf, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered(p)
		}
	}()
	if v == nil || v.OpenAPIV3Schema == nil {
		return nil, nil //nolint:nilnil // It accepts everything, as said above.
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v, internal, nil); err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	s, err := structural.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	// The CRD may share structs with it.
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	values, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return &schemaOf{structural: s, values: values, rules: cel.NewValidator(s, true, celconfig.PerCallLimit)}, nil
}

// mostProblems is the number of problems that are reported for one object.
const mostProblems = 3

// Object returns the problems that the new CRD would cause for an object, which was read in the version of the check: a
// field and a reason each, without any value. It omits problems that the object had before. It does not change the
// object.
func (c *Check) Object(ctx context.Context, u *unstructured.Unstructured) []string {
	next := c.next.problems(ctx, c.in(u, c.as))
	if len(next) == 0 {
		return nil
	}
	if c.old != nil {
		before := c.old.problems(ctx, c.in(u, c.Version))
		next = slices.DeleteFunc(next, func(p string) bool { return slices.Contains(before, p) })
	}
	if len(next) > mostProblems {
		next = append(next[:mostProblems], "…")
	}
	return next
}

// in returns a copy of an object with the apiVersion of a version.
func (c *Check) in(u *unstructured.Unstructured, version string) map[string]any {
	out := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.Object)}
	gv := schema.GroupVersion{Group: out.GroupVersionKind().Group, Version: version}
	out.SetAPIVersion(gv.String())
	return out.Object
}

// problems returns the problems of an object. It changes the object as an API server does when it reads it.
func (s *schemaOf) problems(ctx context.Context, object map[string]any) (out []string) {
	defer func() {
		if p := recover(); p != nil {
			out = []string{recovered(p).Error()}
		}
	}()
	if s == nil {
		return nil
	}
	pruning.Prune(object, s.structural, true)
	defaulting.Default(object, s.structural)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	list := validation.ValidateCustomResource(nil, object, s.values)
	list = append(list, objectmeta.Validate(ctx, nil, object, s.structural, false)...)
	list = append(list, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	if len(list) == 0 && s.rules != nil {
		// Validation rules may rely on all checks above.
		list, _ = s.rules.Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, e := range list {
		out = append(out, problem(e))
	}
	return out
}

// problem describes an error without the invalid value.
func problem(e *field.Error) string {
	text := strings.ToLower(e.Type.String())
	if e.Detail != "" {
		text += ": " + oneLine(e.Detail)
	}
	if e.Field == "" {
		return text
	}
	return e.Field + ": " + text
}
