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

// A fieldWalk checks all fields of a type against a schema.
type fieldWalk struct {
	t       *testing.T
	checked int
	// times and durations are the fields of these types.
	times, durations int
}

// TestAllDecodable checks for each field of each kind that the provider can decode all values that the schema accepts, also in the status: with
// the roles of Crossplane, tenants can write it.
func TestAllDecodable(t *testing.T) {
	w := &fieldWalk{t: t}
	for plural, o := range map[string]any{
		"clusterproviderconfigs": ClusterProviderConfig{}, "kymas": Kyma{}, "kymasets": KymaSet{}, "manifests": Manifest{},
		"modulereleasemetas": ModuleReleaseMeta{}, "moduletemplates": ModuleTemplate{}, "providerconfigs": ProviderConfig{},
		"providerconfigusages": ProviderConfigUsage{}, "rolloutpolicies": RolloutPolicy{},
	} {
		props, s := schemaOf(t, plural)
		w.fields(plural, reflect.TypeOf(o), props, s)
	}
	if w.checked < 600 || w.times < 14 || w.durations < 8 {
		t.Errorf("only %d fields were checked, with %d times and %d durations", w.checked, w.times, w.durations)
	}
}

// fields checks the fields of a struct.
func (w *fieldWalk) fields(path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "metadata", name == "apiVersion", name == "kind", name == "-":
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			w.fields(path, f.Type, props, s)
		default:
			child, ok := props.Properties[name]
			if !ok {
				w.t.Errorf("%s.%s has no schema", path, name)
				continue
			}
			part := s.Properties[name]
			w.value(path+"."+name, f.Type, &child, &part)
		}
	}
}

// value checks a value of any type.
func (w *fieldWalk) value(path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	w.decodes(path, typ, props, s)
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		w.fields(path, typ, props, s)
	case reflect.Slice:
		if props.Items != nil && props.Items.Schema != nil {
			w.value(path+"[]", typ.Elem(), props.Items.Schema, s.Items)
		}
	case reflect.Map:
		if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
			w.value(path+"{}", typ.Elem(), props.AdditionalProperties.Schema, s.AdditionalProperties.Structural)
		}
	default:
	}
}

// decodes checks that a type can be decoded from the values that its schema accepts.
func (w *fieldWalk) decodes(path string, typ reflect.Type, props *apiextensions.JSONSchemaProps, s *structural.Structural) {
	w.t.Helper()
	w.checked++
	switch typ.Name() {
	case "Time":
		w.times++
	case "Duration":
		w.durations++
	}
	v, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		w.t.Fatal(err)
	}
	rules := cel.NewValidator(s, false, celconfig.PerCallLimit)
	for _, value := range hostile {
		if len(validation.ValidateCustomResource(nil, value, v)) > 0 {
			continue
		}
		if list, _ := rules.Validate(w.t.Context(), nil, s, value, nil, celconfig.RuntimeCELCostBudget); len(list) > 0 {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := json.Unmarshal(data, reflect.New(typ).Interface()); err != nil {
			w.t.Errorf("%s accepts %s, which the provider cannot decode: %v", path, data, err)
		}
	}
}
