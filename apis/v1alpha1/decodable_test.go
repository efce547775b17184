// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// TestDecodable checks that the schema refuses what the provider cannot decode. One object that it cannot decode would end the watch of
// its kind for all tenants.
func TestDecodable(t *testing.T) {
	cases := map[string]struct {
		reason string
		plural string
		into   any
		spec   string
		ok     bool
	}{
		"Time":             {reason: "This is a time.", plural: "kymas", into: &Kyma{}, spec: deferred("2026-12-01T00:00:00+01:00"), ok: true},
		"Fraction":         {reason: "This is a time.", plural: "kymas", into: &Kyma{}, spec: deferred("2026-12-01T00:00:00.5Z"), ok: true},
		"LowerCase":        {reason: "Go accepts no lower case.", plural: "kymas", into: &Kyma{}, spec: deferred("2026-12-01t00:00:00z")},
		"Offset":           {reason: "No zone has this offset.", plural: "kymas", into: &Kyma{}, spec: deferred("2026-12-01T00:00:00+99:99")},
		"Rest":             {reason: "Something follows the time.", plural: "kymas", into: &Kyma{}, spec: deferred("2026-12-01T00:00:00ZTx")},
		"TemplateOffset":   {reason: "A KymaSet has the field too.", plural: "kymasets", into: &KymaSet{}, spec: template("2026-12-01T00:00:00+99:99")},
		"TemplateTime":     {reason: "A KymaSet has the field too.", plural: "kymasets", into: &KymaSet{}, spec: template("2026-12-01T00:00:00Z"), ok: true},
		"Deferral":         {reason: "The duration is too long for Go.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: `{"maxDeferral":"99999999999999h"}`},
		"Soak":             {reason: "The duration is too long for Go.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: wave(`"soak":"99999999999999h"`)},
		"ProgressDeadline": {reason: "The duration is too long for Go.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: `{"progressDeadline":"99999999999999h"}`},
		"Batch":            {reason: "The number is too large for Go.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: wave(`"batch":2147483648`)},
		"Budget":           {reason: "The number is too large for Go.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: `{"failureBudget":2147483648}`},
		"Policy":           {reason: "This is a policy.", plural: "rolloutpolicies", into: &RolloutPolicy{}, spec: wave(`"soak":"1h30m","batch":1000000`), ok: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := fmt.Appendf(nil, `{"apiVersion":"%s","kind":"K","metadata":{"name":"n"},"spec":%s}`, SchemeGroupVersion, tc.spec)
			refused, decoded := validate(t, tc.plural, data), json.Unmarshal(data, tc.into)
			if (refused == nil) != tc.ok || (decoded == nil) != tc.ok {
				t.Errorf("%s\nwant ok: %t; the schema: %v; the decoder: %v", tc.reason, tc.ok, refused, decoded)
			}
		})
	}
}

func deferred(until string) string {
	return fmt.Sprintf(`{"providerConfigRef":{"name":"c","kind":"ProviderConfig"},"forProvider":{"deferUpgradesUntil":%q}}`, until)
}

func template(until string) string {
	return fmt.Sprintf(`{"providerConfigs":{},"template":{"spec":{"forProvider":{"deferUpgradesUntil":%q}}}}`, until)
}

func wave(fields string) string { return `{"waves":[{"name":"w",` + fields + `}]}` }

// validate returns an error if an API server would refuse the spec of an object.
func validate(t *testing.T, plural string, data []byte) error {
	t.Helper()
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	integers(object)
	props, s := schemaOf(t, plural)
	v, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	if list := validation.ValidateCustomResource(nil, object, v); len(list) > 0 {
		return list.ToAggregate()
	}
	list, _ := cel.NewValidator(s, true, celconfig.PerCallLimit).Validate(context.Background(), nil, s, object, nil, celconfig.RuntimeCELCostBudget)
	return list.ToAggregate()
}

// schemaOf returns the schema of a kind, in the two forms in which an API server uses it.
func schemaOf(t *testing.T, plural string) (*apiextensions.JSONSchemaProps, *structural.Structural) {
	t.Helper()
	file, err := os.ReadFile("../../package/crds/kyma.m.crossplane.io_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, internal := &extv1.CustomResourceDefinition{}, &apiextensions.CustomResourceValidation{}
	if err := yaml.Unmarshal(file, crd); err != nil {
		t.Fatal(err)
	}
	if err := extv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(crd.Spec.Versions[0].Schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structural.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	return internal.OpenAPIV3Schema, s
}

// integers replaces all numbers with integers.
func integers(object map[string]any) {
	for k, v := range object {
		switch v := v.(type) {
		case float64:
			object[k] = int64(v)
		case map[string]any:
			integers(v)
		case []any:
			for _, i := range v {
				if m, ok := i.(map[string]any); ok {
					integers(m)
				}
			}
		}
	}
}
