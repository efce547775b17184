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

// A Check is for the objects of one version of a CRD.
type Check struct {
	// Version in which the objects must be read from the API server.
	Version string

	as string
	// old is nil where no schema of before can be used.
	old, next *schemaOf
}

// A schemaOf one version, ready to judge objects.
type schemaOf struct {
	structural *structural.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// newSchema of a version; nil for one that accepts everything.
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
	// Structs of it may be shared with the CRD.
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

// mostProblems are told of one object.
const mostProblems = 3

// Object says what would be wrong with an object, which was read in the version of the check, and is not wrong yet: a
// field and a reason each, without any value. An object that was wrong before is not made so by the new CRD. The
// object is not changed.
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

// in a version, as a copy.
func (c *Check) in(u *unstructured.Unstructured, version string) map[string]any {
	out := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.Object)}
	gv := schema.GroupVersion{Group: out.GroupVersionKind().Group, Version: version}
	out.SetAPIVersion(gv.String())
	return out.Object
}

// problems of an object, which is changed as an API server changes what it reads.
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
		// Rules may rely on all that.
		list, _ = s.rules.Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, e := range list {
		out = append(out, problem(e))
	}
	return out
}

// problem in words, without the value that is wrong.
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
