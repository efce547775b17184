// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Usable returns an error if a CRD in a cluster can't be used in place of another one, which is then not applied. It can if it has the
// same group, names and scope, serves each version that the other one serves, and accepts in each of them every object that the other
// one accepts, without dropping a field. The error names the first difference, and not the CRD. Usable may return an error for schemas
// that accept the same objects in different words.
func Usable(live, want *unstructured.Unstructured) error {
	has, err := decode(live)
	if err != nil {
		return errors.Wrap(err, "existing CRD in the cluster")
	}
	crd, err := decode(want)
	if err != nil {
		return err
	}
	for _, f := range []struct{ field, has, want string }{
		{"spec.group", has.Spec.Group, crd.Spec.Group},
		{"spec.names.kind", has.Spec.Names.Kind, crd.Spec.Names.Kind},
		{"spec.names.plural", has.Spec.Names.Plural, crd.Spec.Names.Plural},
		{"spec.scope", string(has.Spec.Scope), string(crd.Spec.Scope)},
	} {
		if f.has != f.want {
			return errors.Errorf("%s of the existing CRD is %s, but must be %s", f.field, f.has, f.want)
		}
	}
	versions, wanted := served(has), served(crd)
	if len(wanted) > 1 && strategyOf(has) != strategyOf(crd) {
		return errors.Errorf("spec.conversion.strategy of the existing CRD is %s, but must be %s", strategyOf(has), strategyOf(crd))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if versions[name] == nil {
			return errors.Errorf("the existing CRD does not serve version %s", name)
		}
		if err := includesVersion(versions[name], wanted[name]); err != nil {
			return errors.Wrapf(err, "version %s", name)
		}
	}
	return nil
}

func strategyOf(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.ConversionStrategyType {
	if crd.Spec.Conversion == nil {
		return apiextensionsv1.NoneConverter
	}
	return cmp.Or(crd.Spec.Conversion.Strategy, apiextensionsv1.NoneConverter)
}

// includesVersion returns an error unless one version of a CRD can be used in place of another one.
func includesVersion(has, want *apiextensionsv1.CustomResourceDefinitionVersion) error {
	if err := includesSubresources(has.Subresources, want.Subresources); err != nil {
		return err
	}
	same, err := equal(has.Schema, want.Schema)
	if err != nil || same || has.Schema == nil || has.Schema.OpenAPIV3Schema == nil {
		return err
	}
	return includesSchema(has.Schema, want.Schema)
}

// includesSubresources returns an error unless a version has the subresources of another one.
func includesSubresources(has, want *apiextensionsv1.CustomResourceSubresources) error {
	if want == nil {
		return nil
	}
	if has == nil {
		has = &apiextensionsv1.CustomResourceSubresources{}
	}
	if want.Status != nil && has.Status == nil {
		return errors.New("the existing CRD has no status subresource")
	}
	if want.Scale != nil && !reflect.DeepEqual(has.Scale, want.Scale) {
		return errors.New("the scale subresource of the existing CRD is missing or different")
	}
	return nil
}

// includesSchema returns an error unless a schema accepts every object that another one accepts.
func includesSchema(has, want *apiextensionsv1.CustomResourceValidation) error {
	if want == nil || want.OpenAPIV3Schema == nil {
		return errors.New("the existing CRD has a schema, but the new CRD has none")
	}
	x, err := decodeSchema(has.OpenAPIV3Schema)
	if err != nil {
		return err
	}
	y, err := decodeSchema(want.OpenAPIV3Schema)
	if err != nil {
		return err
	}
	return includes("", x, y)
}

func decodeSchema(s *apiextensionsv1.JSONSchemaProps) (map[string]any, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the schema")
	}
	out := map[string]any{}
	return out, errors.Wrap(json.Unmarshal(b, &out), "cannot read the schema")
}

const preserves = "x-kubernetes-preserve-unknown-fields"

// ignored are the keywords of a schema that do not affect which objects it accepts. The bounds are the keywords whose value may be higher
// (1) or lower (-1), and restrictive are those that may be missing.
var (
	restrictive = map[string]bool{ //nolint:gochecknoglobals // Constant.
		"allOf": true, "anyOf": true, "oneOf": true, "not": true, "pattern": true, "format": true, "multipleOf": true, "uniqueItems": true,
		"exclusiveMaximum": true, "exclusiveMinimum": true,
	}
	ignored = map[string]bool{"description": true, "title": true, "example": true, "externalDocs": true} //nolint:gochecknoglobals // Constant.
	bounds  = map[string]int{                                                                            //nolint:gochecknoglobals // Constant.
		"maximum": 1, "maxLength": 1, "maxItems": 1, "maxProperties": 1,
		"minimum": -1, "minLength": -1, "minItems": -1, "minProperties": -1,
	}
)

// includes returns an error unless a schema accepts every object that another one accepts. The path is the field that both describe.
func includes(path string, has, want map[string]any) error {
	keywords := maps.Clone(has)
	maps.Copy(keywords, want)
	for _, word := range slices.Sorted(maps.Keys(keywords)) {
		h, w := has[word], want[word]
		if ignored[word] || reflect.DeepEqual(h, w) {
			continue
		}
		if err := includesKeyword(path, word, has, want); err != nil {
			return err
		}
	}
	return nil
}

// includesKeyword is like includes for one keyword that differs.
func includesKeyword(path, word string, has, want map[string]any) error {
	if word == "properties" {
		return includesProperties(path, has, want)
	}
	x, isSchema := has[word].(map[string]any)
	y, wantsSchema := want[word].(map[string]any)
	if isSchema && wantsSchema && (word == "items" || word == "additionalProperties") {
		return includes(path+"[*]", x, y)
	}
	if !allows(word, has, want) {
		return errors.Errorf("%s: %s in the schema of the existing CRD is more restrictive or different", fieldOf(path), word)
	}
	return nil
}

// allows reports whether a keyword of a schema allows what that of another one allows.
func allows(word string, has, want map[string]any) bool {
	h, w := has[word], want[word]
	switch word {
	case "items", "additionalProperties":
		return describesNoLess(h, w, has[preserves] == true)
	case "required":
		return requiresNoMore(has, want)
	case "enum":
		return allowsValues(h, w)
	case "x-kubernetes-validations":
		return isSubset(rules(h), rules(w))
	case "nullable", preserves:
		return h == true
	case "default":
		return w == nil
	}
	if restrictive[word] {
		return h == nil || h == false
	}
	return isLooser(bounds[word], h, w)
}

// describesNoLess reports whether the schema of items or other fields allows that of another one, if both are not compared. Without it, other
// fields are dropped, or described one by one, unless unknown fields are preserved.
func describesNoLess(has, want any, preserved bool) bool {
	return has == true || want == nil || has == nil && preserved
}

// allowsValues reports whether an enum allows the values of another one.
func allowsValues(has, want any) bool {
	return has == nil || want != nil && isSubset(list(want), list(has))
}

// requiresNoMore reports whether a schema requires no field without a default that another one does not require.
func requiresNoMore(has, want map[string]any) bool {
	return !slices.ContainsFunc(list(has["required"]), func(name any) bool {
		return !slices.Contains(list(want["required"]), name) && !hasDefault(has, name)
	})
}

// includesProperties is like includes for the properties of an object.
func includesProperties(path string, has, want map[string]any) error {
	h, _ := has["properties"].(map[string]any)
	w, _ := want["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(w)) {
		field := path + "." + name
		x, known := h[name].(map[string]any)
		y, _ := w[name].(map[string]any)
		switch {
		case known:
			if err := includes(field, x, y); err != nil {
				return err
			}
		case has[preserves] != true:
			return errors.Errorf("the existing CRD does not have the field %s", fieldOf(field))
		}
	}
	if want[preserves] != true && want["additionalProperties"] == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if w[name] == nil {
			return errors.Errorf("the existing CRD restricts the field %s", fieldOf(path+"."+name))
		}
	}
	return nil
}

// hasDefault reports whether a schema sets a value for a field that is missing.
func hasDefault(schema map[string]any, name any) bool {
	properties, _ := schema["properties"].(map[string]any)
	property, _ := properties[fmt.Sprint(name)].(map[string]any)
	return property["default"] != nil
}

// isLooser reports whether a bound allows what another one allows. The direction is that of the bound, or 0 for another keyword.
func isLooser(direction int, has, want any) bool {
	if direction == 0 {
		return false
	}
	h, bounded := has.(float64)
	w, wanted := want.(float64)
	return !bounded || wanted && cmp.Compare(h, w) == direction
}

// rules returns the expressions of validation rules.
func rules(v any) []any {
	var out []any
	for _, r := range list(v) {
		m, _ := r.(map[string]any)
		out = append(out, m["rule"])
	}
	return out
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func isSubset(a, b []any) bool {
	return !slices.ContainsFunc(a, func(x any) bool {
		return !slices.ContainsFunc(b, func(y any) bool { return reflect.DeepEqual(x, y) })
	})
}

// fieldOf returns the text of a path.
func fieldOf(path string) string {
	if path == "" {
		return "the object"
	}
	return strings.TrimPrefix(path, ".")
}
