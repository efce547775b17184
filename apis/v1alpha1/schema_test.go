// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// hostile are values that an API server may accept for a field, and that Go may not decode.
var hostile = []any{
	"99999999999999h", "1h", "-1h", "1ns", "9223372036854775808s", ".5h",
	"2026-12-01T00:00:00Z", "2026-12-01t00:00:00z", "2026-12-01T00:00:00+99:99", "2026-12-01 00:00:00Z", "2026-12-01T23:59:60Z", "2026-02-31T00:00:00Z",
	"2026-12-01T00:00:00.1234567890Z", "2026-12-01T24:00:00Z", "0000-00-00T00:00:00Z",
	int64(math.MaxInt32) + 1, int64(math.MinInt32) - 1, int64(math.MaxInt64), float64(math.MaxInt64) * 2, 1e300, 1.5, int64(-1),
	"10%", "1", "", true, []any{}, []any{nil}, map[string]any{},
}

// A fieldWalk checks all fields of a type against a schema. It is called with the name of the type of each field.
type fieldWalk func(typ string)

// TestAllDecodable checks for each field of each kind that the provider can decode all values that the schema accepts, also in the status: with
// the roles of Crossplane, tenants can write it.
func TestAllDecodable(t *testing.T) {
	n := map[string]int{}
	w := fieldWalk(func(typ string) { n[typ]++ })
	for plural, o := range map[string]any{
		"clusterproviderconfigs": ClusterProviderConfig{}, "kymas": Kyma{}, "kymasets": KymaSet{}, "manifests": Manifest{},
		"modulereleasemetas": ModuleReleaseMeta{}, "moduletemplates": ModuleTemplate{}, "providerconfigs": ProviderConfig{},
		"providerconfigusages": ProviderConfigUsage{}, "rolloutpolicies": RolloutPolicy{},
	} {
		props, s := schemaOf(t, plural)
		w.fields(t, plural, reflect.TypeOf(o), props, s)
	}
	if n["string"] < 200 || n["Time"] < 14 || n["Duration"] < 8 {
		t.Errorf("too few fields were checked: %v", n)
	}
}

// fields checks the fields of a struct.
func (w fieldWalk) fields(t *testing.T, path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	t.Helper()
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "metadata", name == "apiVersion", name == "kind", name == "-":
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			w.fields(t, path, f.Type, props, s)
		default:
			child, ok := props.Properties[name]
			if !ok {
				t.Errorf("%s.%s has no schema", path, name)
				continue
			}
			part := s.Properties[name]
			w.value(t, path+"."+name, f.Type, &child, &part)
		}
	}
}

// value checks a value of any type.
func (w fieldWalk) value(t *testing.T, path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	w.decodes(t, path, typ, props, s)
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		w.fields(t, path, typ, props, s)
	case reflect.Slice:
		if props.Items != nil && props.Items.Schema != nil {
			w.value(t, path+"[]", typ.Elem(), props.Items.Schema, s.Items)
		}
	case reflect.Map:
		if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
			w.value(t, path+"{}", typ.Elem(), props.AdditionalProperties.Schema, s.AdditionalProperties.Structural)
		}
	default:
	}
}

// decodes checks that a type can be decoded from the values that its schema accepts.
func (w fieldWalk) decodes(t *testing.T, path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	t.Helper()
	w(typ.Name())
	v, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	rules := cel.NewValidator(s, false, celconfig.PerCallLimit)
	for _, value := range hostile {
		if len(validation.ValidateCustomResource(nil, value, v)) > 0 {
			continue
		}
		if list, _ := rules.Validate(t.Context(), nil, s, value, nil, celconfig.RuntimeCELCostBudget); len(list) > 0 {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, reflect.New(typ).Interface()); err != nil {
			t.Errorf("%s accepts %s, which the provider cannot decode: %v", path, data, err)
		}
	}
}
