// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/json"
	"fmt"
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
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// placeholder replaces the name of a custom resource that has none; such a resource gets the name of the module.
const placeholder = "module"

// checkCustomResource checks that the custom resource, if any, conforms to the schema of its CRD, with the strict
// validation of an API server. It ignores the status, which is never sent. File is the name of its file, or empty.
func checkCustomResource(ctx context.Context, cr *unstructured.Unstructured, file string, found contents, w *warnings) (err error) {
	if cr == nil {
		return nil
	}
	u, err := clone(cr)
	if err != nil {
		return errors.Wrap(err, "custom resource")
	}
	gvk := u.GroupVersionKind()
	if gvk.Version == "" || gvk.Kind == "" {
		return errors.New("custom resource: apiVersion and kind are required")
	}
	title := oneLine("custom resource " + strings.TrimSpace(gvk.Kind+" "+u.GetName()))
	if file != "" {
		title = oneLine(file) + ": " + title
	}
	if other, ok := found.installs[found.keyOf(u, defaultNamespace)]; ok && u.GetName() != "" {
		return errors.Errorf("%s: is also part of install %q", title, other)
	}
	d := found.crds.find(gvk.GroupKind())
	if d == nil {
		w.addf("%s is not validated, because the module has no CRD for %s", title, gvk.GroupKind())
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = errors.Errorf("%s: cannot be checked: %s", title, oneLine(fmt.Sprint(p)))
		}
	}()
	if !d.namespaced() && u.GetNamespace() != "" {
		w.addf("%s: metadata.namespace is ignored: %s are cluster-scoped", title, d.Name)
		u.SetNamespace("")
	}
	return errors.Wrap(fits(ctx, u, d), title)
}

// clone returns a copy of an object, whose numbers may be of any type.
func clone(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	out := &unstructured.Unstructured{}
	if err := kjson.Unmarshal(data, &out.Object); err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return out, nil
}

// fits returns an error if an object does not conform to a CRD.
func fits(ctx context.Context, u *unstructured.Unstructured, d *crd) error {
	version, err := served(d, u.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	if version.Schema == nil {
		return nil
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil); err != nil {
		return errors.New(oneLine(err.Error()))
	}
	s, err := structural.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return errors.New(oneLine(err.Error()))
	}
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return errors.New(oneLine(err.Error()))
	}
	if err := decode(u, s, d.namespaced()); err != nil {
		return err
	}
	defaulting.Default(u.Object, s)
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return errors.New(oneLine(err.Error()))
	}
	list := validation.ValidateCustomResource(nil, u.Object, validator)
	list = append(list, objectmeta.Validate(ctx, nil, u.Object, s, false)...)
	list = append(list, listtype.ValidateListSetsAndMaps(nil, s, u.Object)...)
	if len(list) > 0 {
		// Validation rules may rely on all checks above.
		return violations(list)
	}
	list, _ = cel.NewValidator(s, true, celconfig.PerCallLimit).Validate(ctx, nil, s, u.Object, nil, celconfig.RuntimeCELCostBudget)
	return violations(list)
}

// served returns a version of a CRD, or an error if an API server would not serve it.
func served(d *crd, name string) (*apiextensionsv1.CustomResourceDefinitionVersion, error) {
	var names []string
	for i := range d.Spec.Versions {
		v := &d.Spec.Versions[i]
		if !v.Served {
			continue
		}
		if v.Name == name {
			return v, nil
		}
		names = append(names, schema.GroupVersion{Group: d.Spec.Group, Version: v.Name}.String())
	}
	return nil, errors.Errorf("apiVersion: %s serves %s, but not version %s", d.Name, or(strings.Join(names, ", "), "no version"), name)
}

// decode prunes and coerces an object as a strict API server does: an unknown field is an error.
func decode(u *unstructured.Unstructured, s *structural.Structural, namespaced bool) error {
	delete(u.Object, "status")
	if u.GetName() == "" {
		u.SetName(placeholder)
	}
	if namespaced && u.GetNamespace() == "" {
		u.SetNamespace(defaultNamespace)
	}
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return errors.New(oneLine(err.Error()))
	}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, s, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s)
	coerced, more := objectmeta.CoerceWithOptions(nil, u.Object, s, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if coerced != nil {
		return violations(field.ErrorList{coerced})
	}
	texts := make([]string, 0, len(unknown)+len(more))
	for _, path := range append(unknown, more...) {
		texts = append(texts, short(path, maxViolation)+": unknown field in the CRD")
	}
	if err := joined(texts); err != nil {
		return err
	}
	return violations(validateMeta(meta, namespaced))
}

func validateMeta(meta *metav1.ObjectMeta, namespaced bool) field.ErrorList {
	return apivalidation.ValidateObjectMeta(meta, namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
