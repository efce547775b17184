// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestUsable(t *testing.T) {
	spec := func(text string) []string { return []string{version("v1", both, text)} }
	size := func(rest string) []string { return spec("{type: object, properties: {size: {" + rest + "}}}") }
	cases := map[string]struct {
		reason string
		// has and want are the versions of the CRD in the cluster, and of the one to use it for. Edit changes the first one.
		has, want []string
		edit      func(text string) string
		err       string
	}{
		"Same":        {reason: "A CRD that is equal can be used.", has: spec(open), want: spec(open)},
		"Texts":       {reason: "Descriptions don't count.", has: size("type: string, description: a"), want: size("type: string, title: b")},
		"Field":       {reason: "A further optional field does no harm.", has: spec(open), want: size("type: string")},
		"NoField":     {reason: "A field that is missing is dropped.", has: size("type: string"), want: spec(open), err: "version v1: the existing CRD does not have the field spec.mode"},
		"Kept":        {reason: "A field that is missing is kept if unknown fields are kept.", has: spec("{type: object, " + preserves + ": true}"), want: spec(open)},
		"NotKept":     {reason: "Unknown fields that must be kept are dropped.", has: spec(open), want: spec("{type: object, " + preserves + ": true}"), err: "version v1: the existing CRD restricts the field spec.mode"},
		"Restricted":  {reason: "A field that was unknown has a schema.", has: spec("{type: object, " + preserves + ": true, properties: {size: {type: string}}}"), want: spec("{type: object, " + preserves + ": true}"), err: "version v1: the existing CRD restricts the field spec.size"},
		"Type":        {reason: "Another type accepts other values.", has: size("type: integer"), want: size("type: string"), err: "version v1: spec.size: type in the schema of the existing CRD is more restrictive or different"},
		"Required":    {reason: "A required field refuses objects without it.", has: spec("{type: object, required: [mode], properties: {size: {type: string}, mode: {type: string}}}"), want: size("type: string"), err: "version v1: spec: required"},
		"Defaulted":   {reason: "A required field with a default does no harm.", has: spec("{type: object, required: [mode], properties: {size: {type: string}, mode: {type: string, default: a}}}"), want: size("type: string")},
		"NotRequired": {reason: "A required field may be optional in the existing CRD.", has: spec(open), want: spec(strings.Replace(open, "{type: object,", "{type: object, required: [mode],", 1))},
		"Enum":        {reason: "An enum may have more values.", has: size("type: string, enum: [a, b]"), want: size("type: string, enum: [b]")},
		"SmallEnum":   {reason: "An enum with fewer values refuses some objects.", has: size("type: string, enum: [a]"), want: size("type: string, enum: [a, b]"), err: "version v1: spec.size: enum"},
		"NewEnum":     {reason: "A new enum refuses some objects.", has: size("type: string, enum: [a]"), want: size("type: string"), err: "version v1: spec.size: enum"},
		"Maximum":     {reason: "A maximum may be higher.", has: size("type: array, maxItems: 9, items: {type: string}"), want: size("type: array, maxItems: 8, items: {type: string}")},
		"LowMaximum":  {reason: "A lower maximum refuses some objects.", has: size("type: string, maxLength: 7"), want: size("type: string, maxLength: 8"), err: "version v1: spec.size: maxLength"},
		"NewMaximum":  {reason: "A new maximum refuses some objects.", has: size("type: string, maxLength: 7"), want: size("type: string"), err: "version v1: spec.size: maxLength"},
		"Minimum":     {reason: "A minimum may be lower.", has: size("type: integer, minimum: 0"), want: size("type: integer, minimum: 1")},
		"HighMinimum": {reason: "A higher minimum refuses some objects.", has: size("type: integer, minimum: 2"), want: size("type: integer, minimum: 1"), err: "version v1: spec.size: minimum"},
		"Pattern":     {reason: "A new pattern refuses some objects.", has: size("type: string, pattern: a"), want: size("type: string"), err: "version v1: spec.size: pattern"},
		"NoPattern":   {reason: "A pattern may be missing.", has: size("type: string"), want: size("type: string, pattern: a")},
		"Nullable":    {reason: "A field may also accept null.", has: size("type: string, nullable: true"), want: size("type: string")},
		"NotNullable": {reason: "Null is dropped.", has: size("type: string"), want: size("type: string, nullable: true"), err: "version v1: spec.size: nullable"},
		"NoDefault":   {reason: "A default that operators rely on is missing.", has: size("type: string"), want: size("type: string, default: a"), err: "version v1: spec.size: default"},
		"Rule":        {reason: "A new rule refuses some objects.", has: size("type: string, x-kubernetes-validations: [{rule: \"self != 'a'\"}]"), want: size("type: string"), err: "version v1: spec.size: x-kubernetes-validations"},
		"NoRule":      {reason: "A rule may be missing, or have another message.", has: size("type: string, x-kubernetes-validations: [{rule: \"self != 'a'\", message: x}]"), want: size("type: string, x-kubernetes-validations: [{rule: \"self != 'a'\"}, {rule: \"self != 'b'\"}]")},
		"Items":       {reason: "The schema of items is compared.", has: size("type: array, items: {type: string, maxLength: 1}"), want: size("type: array, items: {type: string}"), err: "version v1: spec.size[*]: maxLength"},
		"Map":         {reason: "A map isn't described by fields.", has: size("type: object, properties: {a: {type: string}}"), want: size("type: object, additionalProperties: {type: string}"), err: "version v1: spec.size: additionalProperties"},
		"ListType":    {reason: "Lists merge differently.", has: size("type: array, x-kubernetes-list-type: set, items: {type: string}"), want: size("type: array, items: {type: string}"), err: "version v1: spec.size: x-kubernetes-list-type"},
		"NewVersion":  {reason: "A further version does no harm.", has: []string{version("v1", both, open), version("v2", only, open)}, want: spec(open)},
		"NoVersion":   {reason: "A version is missing.", has: spec(open), want: []string{version("v1", both, open), version("v2", only, open)}, err: "the existing CRD does not serve version v2"},
		"Unserved":    {reason: "A version isn't served.", has: []string{version("v1", hidden, open), version("v2", only, open)}, want: spec(open), err: "the existing CRD does not serve version v1"},
		"NotWanted":   {reason: "A version that the new CRD does not serve may be missing.", has: spec(open), want: []string{version("v1", both, open), version("v0", "served: false, storage: false", open)}},
		"Any":         {reason: "A CRD without a schema accepts all objects.", has: []string{"{name: v1, served: true, storage: true}"}, want: spec(open)},
		"NotAny":      {reason: "A CRD with a schema does not accept all objects.", has: spec(open), want: []string{"{name: v1, served: true, storage: true}"}, err: "version v1: the existing CRD has a schema, but the new CRD has none"},
		"Status":      {reason: "A subresource is missing.", has: spec(open), want: []string{strings.Replace(version("v1", both, open), "served:", "subresources: {status: {}}, served:", 1)}, err: "version v1: the existing CRD has no status subresource"},
		"Subresource": {reason: "A further subresource does no harm.", has: []string{strings.Replace(version("v1", both, open), "served:", "subresources: {status: {}}, served:", 1)}, want: spec(open)},
		"Scope":       {reason: "A CRD with another scope cannot be used.", has: spec(open), want: spec(open), edit: func(text string) string { return strings.Replace(text, "Namespaced", "Cluster", 1) }, err: "spec.scope of the existing CRD is Cluster, but must be Namespaced"},
		"Kind":        {reason: "A CRD with another kind cannot be used.", has: spec(open), want: spec(open), edit: func(text string) string { return strings.Replace(text, "Widget", "Gadget", 1) }, err: "spec.names.kind of the existing CRD is Gadget, but must be Widget"},
		"Conversion": {reason: "Objects of two versions aren't converted.", has: []string{version("v1", both, open), version("v2", only, open)}, want: []string{version("v1", both, open), version("v2", only, open)}, edit: func(text string) string {
			return strings.Replace(text, "scope:", "conversion: {strategy: Webhook}\n  scope:", 1)
		}, err: "spec.conversion.strategy of the existing CRD is Webhook, but must be None"},
		"NoConversion": {reason: "With one version, nothing is converted.", has: spec(open), want: spec(open), edit: func(text string) string {
			return strings.Replace(text, "scope:", "conversion: {strategy: Webhook}\n  scope:", 1)
		}},
		"NoCRD": {reason: "What cannot be read is refused.", has: spec(open), want: spec(open), edit: func(string) string { return "{apiVersion: v1, kind: X, spec: [1]}" }, err: "not a valid CustomResourceDefinition"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			has := crd(t, "", tc.has...)
			if tc.edit != nil {
				has = parse(t, tc.edit(mustYAML(t, has)))
			}
			got := ""
			if err := Usable(has, crd(t, "", tc.want...)); err != nil {
				got = err.Error()
			}
			if (tc.err == "") != (got == "") || !strings.Contains(got, tc.err) {
				t.Errorf("\n%s\ngot %q, want %q", tc.reason, got, tc.err)
			}
		})
	}
}

// TestUsableDoesNotChange checks that a comparison leaves both CRDs as they are.
func TestUsableDoesNotChange(t *testing.T) {
	a := crd(t, "", version("v1", both, open))
	b := crd(t, "", version("v1", both, "{type: object, description: x}"))
	before := []*unstructured.Unstructured{a.DeepCopy(), b.DeepCopy()}
	_ = Usable(a, b)
	if diff := cmp.Diff(fmt.Sprint(before[0], before[1]), fmt.Sprint(a, b)); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
}
