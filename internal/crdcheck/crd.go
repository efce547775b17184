// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// decode decodes a CRD. It ignores unknown fields, as an API server does.
func decode(u *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	b, err := json.Marshal(u.Object)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := kjson.Unmarshal(b, crd); err != nil {
		return nil, errors.Wrap(err, "not a valid CustomResourceDefinition in apiextensions.k8s.io/v1")
	}
	return crd, nil
}

// Replaceable returns an error if a CRD in a cluster can never be replaced by another one, with any objects: the other
// has another group, kind or scope, or lacks a version in which objects are stored. The error does not name the CRD.
func Replaceable(live, next *unstructured.Unstructured) error {
	old, err := decode(live)
	if err != nil {
		return errors.Wrap(err, "existing CRD in the cluster")
	}
	crd, err := decode(next)
	if err != nil {
		return err
	}
	for _, f := range []struct{ field, was, is string }{
		{"spec.group", old.Spec.Group, crd.Spec.Group},
		{"spec.names.kind", old.Spec.Names.Kind, crd.Spec.Names.Kind},
		{"spec.scope", string(old.Spec.Scope), string(crd.Spec.Scope)},
	} {
		if f.was != f.is {
			return errors.Errorf("%s cannot be changed from %s to %s; delete the CRD with all its objects first, or restore the field",
				f.field, f.was, f.is)
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
	}
	var lost []string
	for _, v := range old.Status.StoredVersions {
		if !has(v) {
			lost = append(lost, v)
		}
	}
	if len(lost) > 0 {
		return errors.Errorf("objects might be stored in version %s (status.storedVersions), which the new CRD does not "+
			"have; keep the version, or migrate all objects to another version and remove it from status.storedVersions first", strings.Join(lost, ", "))
	}
	return nil
}

// Checks returns the checks that a new CRD requires, at most one for each version. It returns none if nothing changes
// that affects the validity of objects, which then need not be read.
func Checks(live, next *unstructured.Unstructured) ([]*Check, error) {
	old, err := decode(live)
	if err != nil {
		return nil, errors.Wrap(err, "existing CRD in the cluster")
	}
	crd, err := decode(next)
	if err != nil {
		return nil, err
	}
	before := served(old)
	var out []*Check
	common := false
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		was, ok := before[v.Name]
		if !v.Served || !ok {
			// No client has used this version yet, so that no object can become invalid in it.
			continue
		}
		common = true
		if out, err = appendCheck(out, was, v); err != nil {
			return nil, err
		}
	}
	if common || !convertsNothing(crd) {
		return out, nil
	}
	// No previous version is left: objects are then read unconverted, in a version that is served now.
	from, to := preferred(old), preferred(crd)
	if from == nil || to == nil {
		return nil, nil
	}
	return appendCheck(nil, from, to)
}

// served returns the served versions of a CRD by name.
func served(crd *apiextensionsv1.CustomResourceDefinition) map[string]*apiextensionsv1.CustomResourceDefinitionVersion {
	out := map[string]*apiextensionsv1.CustomResourceDefinitionVersion{}
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served {
			out[v.Name] = v
		}
	}
	return out
}

// preferred returns the served version in which objects are stored, or else the first served one; nil if there is none.
func preferred(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	var out *apiextensionsv1.CustomResourceDefinitionVersion
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served && (out == nil || v.Storage) {
			out = v
		}
	}
	return out
}

// convertsNothing reports whether an object is the same in all versions except for its apiVersion.
func convertsNothing(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy == apiextensionsv1.NoneConverter
}

// appendCheck appends a check of objects of version was against the schema of version is, if the two differ.
func appendCheck(out []*Check, was, is *apiextensionsv1.CustomResourceDefinitionVersion) ([]*Check, error) {
	same, err := equal(was.Schema, is.Schema)
	if err != nil || same {
		return out, err
	}
	c := &Check{Version: was.Name, as: is.Name}
	if c.next, err = newSchema(is.Schema); err != nil {
		return nil, errors.Wrapf(err, "spec.versions[%s].schema", is.Name)
	}
	// If the previous schema cannot be read, all problems are reported.
	c.old, _ = newSchema(was.Schema)
	return append(out, c), nil
}

// equal reports whether two schemas accept the same objects. It compares them without descriptions, and may return
// false for equivalent schemas.
func equal(a, b *apiextensionsv1.CustomResourceValidation) (bool, error) {
	x, err := canonical(a)
	if err != nil {
		return false, err
	}
	y, err := canonical(b)
	return bytes.Equal(x, y), err
}

func canonical(s *apiextensionsv1.CustomResourceValidation) ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the schema")
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, errors.Wrap(err, "cannot read the schema")
	}
	b, err = json.Marshal(withoutTexts(v))
	return b, errors.Wrap(err, "cannot encode the schema")
}

// withoutTexts removes the descriptions of a schema, and returns it. A property named description is a map, and stays.
func withoutTexts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["description"].(string); ok {
			delete(v, "description")
		}
		for k := range v {
			v[k] = withoutTexts(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withoutTexts(v[i])
		}
	}
	return v
}

// oneLine replaces all whitespace in a string by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// recovered returns the error of a panic: some code of the API server relies on previous validation.
func recovered(p any) error { return errors.New("cannot be checked: " + oneLine(fmt.Sprint(p))) }
