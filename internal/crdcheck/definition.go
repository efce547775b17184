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

// decode a CRD. Fields that are unknown do not count, as for an API server.
func decode(u *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	b, err := json.Marshal(u.Object)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := kjson.Unmarshal(b, crd); err != nil {
		return nil, errors.Wrap(err, "is not a CustomResourceDefinition of version v1")
	}
	return crd, nil
}

// Replaceable returns an error that says why a CRD in a cluster can never be replaced by another one, whatever objects there
// are: another group, kind or scope, or a version gone in which objects are stored. The error does not name the
// CRD.
func Replaceable(live, next *unstructured.Unstructured) error {
	old, err := decode(live)
	if err != nil {
		return errors.Wrap(err, "what is in the cluster")
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
			return errors.Errorf("%s cannot change from %s to %s; delete the CRD with all its objects first, or leave it as it is",
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
		return errors.Errorf("objects may be stored in version %s, which the new CRD does not have (status.storedVersions); "+
			"keep the version, or store all objects in another one and take it out of status.storedVersions first", strings.Join(lost, ", "))
	}
	return nil
}

// Checks that a new CRD makes necessary, at most one for each version. There is none where nothing changes that
// makes an object valid or invalid: objects then need not be read.
func Checks(live, next *unstructured.Unstructured) ([]*Check, error) {
	old, err := decode(live)
	if err != nil {
		return nil, errors.Wrap(err, "what is in the cluster")
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
			// No one has used this version yet, so that no object can become invalid in it.
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
	// No version of before is left: objects are then read as what they are, in a version that is served now.
	from, to := preferred(old), preferred(crd)
	if from == nil || to == nil {
		return nil, nil
	}
	return appendCheck(nil, from, to)
}

// served versions of a CRD.
func served(crd *apiextensionsv1.CustomResourceDefinition) map[string]*apiextensionsv1.CustomResourceDefinitionVersion {
	out := map[string]*apiextensionsv1.CustomResourceDefinitionVersion{}
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served {
			out[v.Name] = v
		}
	}
	return out
}

// preferred version that is served: the one in which objects are stored, or the first one.
func preferred(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	var out *apiextensionsv1.CustomResourceDefinitionVersion
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served && (out == nil || v.Storage) {
			out = v
		}
	}
	return out
}

// convertsNothing says whether an object is the same in all versions but for its apiVersion.
func convertsNothing(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy == apiextensionsv1.NoneConverter
}

// appendCheck of objects of one version against the schema of another, if the two differ.
func appendCheck(out []*Check, was, is *apiextensionsv1.CustomResourceDefinitionVersion) ([]*Check, error) {
	same, err := equal(was.Schema, is.Schema)
	if err != nil || same {
		return out, err
	}
	c := &Check{Version: was.Name, as: is.Name}
	if c.next, err = newSchema(is.Schema); err != nil {
		return nil, errors.Wrapf(err, "spec.versions[%s].schema", is.Name)
	}
	// What cannot be read of the previous CRD excuses no object.
	c.old, _ = newSchema(was.Schema)
	return append(out, c), nil
}

// equal says whether two schemas accept the same objects, as far as that is seen without effort: texts do not count.
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

// withoutTexts is a schema less its descriptions. A property of that name is a map, and stays.
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

// oneLine makes a text fit for a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// recovered is the error of a panic: some of the API server's code is made for what it has validated before.
func recovered(p any) error { return errors.New("cannot be checked: " + oneLine(fmt.Sprint(p))) }
