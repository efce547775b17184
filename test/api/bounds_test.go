// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestXRDBounds checks that each field and each item of a list of an XRD of the package has a description, and that each list and each string is bounded,
// also in the status. It reads the XRDs themselves, without the fields that Crossplane adds.
func TestXRDBounds(t *testing.T) {
	for _, file := range []string{"definition.yaml", "claim-definition.yaml"} {
		t.Run(file, func(t *testing.T) {
			for _, o := range documents(t, filepath.Join(root, "package", "configuration", file)) {
				xrd := &apiv1.CompositeResourceDefinition{}
				convert(t, o.Object, xrd)
				for _, v := range xrd.Spec.Versions {
					s := &extv1.JSONSchemaProps{}
					if err := json.Unmarshal(v.Schema.OpenAPIV3Schema.Raw, s); err != nil {
						t.Fatal(err)
					}
					if fields := explained(t, xrd.Spec.Names.Kind, s); fields < 70 {
						t.Errorf("%s has only %d fields: is it the schema?", xrd.Spec.Names.Kind, fields)
					}
					for _, u := range append(unboundedIn(xrd.Spec.Names.Kind, s), undescribedIn(xrd.Spec.Names.Kind, s)...) {
						t.Error(u)
					}
				}
			}
		})
	}
}

// TestUnboundedIn checks that unboundedIn finds each missing bound.
func TestUnboundedIn(t *testing.T) {
	text := extv1.JSONSchemaProps{Type: "string", Pattern: "^a*$"}
	s := &extv1.JSONSchemaProps{Type: "object", Properties: map[string]extv1.JSONSchemaProps{
		"a": text,
		"b": {Type: "array", Items: &extv1.JSONSchemaPropsOrArray{Schema: &text}},
		"c": {Type: "string", Format: "date-time"},
	}}
	want := []string{
		"x.a: a string without maxLength, enum or format", "x.b: a list without maxItems",
		"x.b: a list without x-kubernetes-list-type", "x.b[]: a string without maxLength, enum or format",
	}
	if got := unboundedIn("x", s); !slices.Equal(want, got) {
		t.Errorf("unboundedIn(...): want %q, got %q", want, got)
	}
}

// TestWeakerThan checks that weakerThan finds each missing rule and default.
func TestWeakerThan(t *testing.T) {
	text := extv1.JSONSchemaProps{Type: "string"}
	rule := func(field string) extv1.ValidationRule {
		return extv1.ValidationRule{Rule: "self." + field + " != ''", Message: "m"}
	}
	original := &extv1.JSONSchemaProps{
		Properties:   map[string]extv1.JSONSchemaProps{"a": {Type: "string", Default: &extv1.JSON{Raw: []byte(`"x"`)}}, "b": text},
		XValidations: extv1.ValidationRules{rule("a"), rule("b")},
	}
	cases := map[string]struct {
		reason string
		schema *extv1.JSONSchemaProps
		want   []string
	}{
		"Same": {reason: "The original is not weaker than itself.", schema: original},
		"Weaker": {
			reason: "Rules and defaults are missing.", schema: &extv1.JSONSchemaProps{Properties: map[string]extv1.JSONSchemaProps{"a": text, "b": text}},
			want: []string{"x.a: default", "x: the rule self.a != ''", "x: the rule self.b != ''"},
		},
		"OtherDefault": {
			reason: "The default differs, and a field with a rule is missing.",
			schema: &extv1.JSONSchemaProps{
				Properties:   map[string]extv1.JSONSchemaProps{"a": {Type: "string", Default: &extv1.JSON{Raw: []byte(`"y"`)}}},
				XValidations: extv1.ValidationRules{rule("a")},
			},
			want: []string{"x.a: default"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, weakerThan("x", original, tc.schema)); diff != "" {
				t.Errorf("\n%s\nweakerThan(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// unboundedIn returns the lists and strings of a schema without a bound, with their paths.
func unboundedIn(at string, s *extv1.JSONSchemaProps) []string {
	var out []string
	switch {
	case s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "":
		out = append(out, at+": a string without maxLength, enum or format")
	case s.Type == "array":
		if s.XListType == nil {
			out = append(out, at+": a list without x-kubernetes-list-type")
		}
		if s.MaxItems == nil {
			out = append(out, at+": a list without maxItems")
		}
	}
	for name, child := range childrenOf(at, s) {
		out = append(out, unboundedIn(name, child)...)
	}
	slices.Sort(out)
	return out
}

// self matches the fields to which a rule in CEL refers.
var self = regexp.MustCompile(`\bself\.(\w+)`)

// weakerThan returns the fields of a schema that lack a bound, a rule or the default of the same field of the original. Rules about
// fields that the schema does not have are not needed.
func weakerThan(at string, original, s *extv1.JSONSchemaProps) []string {
	var out []string
	lacks := func(bound string, lacking bool) {
		if lacking {
			out = append(out, at+": "+bound)
		}
	}
	lacks("maxLength", original.MaxLength != nil && (s.MaxLength == nil || *s.MaxLength > *original.MaxLength))
	lacks("minLength", original.MinLength != nil && (s.MinLength == nil || *s.MinLength < *original.MinLength))
	lacks("pattern", original.Pattern != "" && s.Pattern != original.Pattern)
	lacks("format", original.Format != "" && s.Format != original.Format)
	lacks("x-kubernetes-list-type", original.XListType != nil && (s.XListType == nil || *s.XListType != *original.XListType))
	lacks("enum", len(original.Enum) > 0 && (len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(v extv1.JSON) bool {
		return !slices.ContainsFunc(original.Enum, func(w extv1.JSON) bool { return string(w.Raw) == string(v.Raw) })
	})))
	lacks("default", original.Default != nil && (s.Default == nil || string(s.Default.Raw) != string(original.Default.Raw)))
	for _, v := range original.XValidations {
		lacks("the rule "+v.Rule, appliesTo(s, v.Rule) && !slices.ContainsFunc(s.XValidations, func(w extv1.ValidationRule) bool {
			return w.Rule == v.Rule && w.Message == v.Message
		}))
	}
	children := childrenOf(at, s)
	for name, child := range childrenOf(at, original) {
		if c := children[name]; c != nil {
			out = append(out, weakerThan(name, child, c)...)
		}
	}
	slices.Sort(out)
	return out
}

// appliesTo reports whether a schema has all fields to which a rule refers.
func appliesTo(s *extv1.JSONSchemaProps, rule string) bool {
	return !slices.ContainsFunc(self.FindAllStringSubmatch(rule, -1), func(m []string) bool {
		_, ok := s.Properties[m[1]]
		return !ok
	})
}

// undescribedIn returns the lists of a schema whose items have no description. kubectl explain shows it for the items.
func undescribedIn(at string, s *extv1.JSONSchemaProps) []string {
	var out []string
	if s.Items != nil && s.Items.Schema != nil && s.Items.Schema.Description == "" {
		out = append(out, at+": items without a description")
	}
	for name, child := range childrenOf(at, s) {
		out = append(out, undescribedIn(name, child)...)
	}
	slices.Sort(out)
	return out
}

// childrenOf returns the schemas of the fields, or of the items, of a schema by their paths.
func childrenOf(at string, s *extv1.JSONSchemaProps) map[string]*extv1.JSONSchemaProps {
	out := map[string]*extv1.JSONSchemaProps{}
	for name, child := range s.Properties {
		out[at+"."+name] = &child
	}
	if s.Items != nil && s.Items.Schema != nil {
		out[at+"[]"] = s.Items.Schema
	}
	return out
}
