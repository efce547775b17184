// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestXRDBounds checks that each field of an XRD of the package has a description, and that each list and each string is bounded,
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
					for _, u := range unboundedIn(xrd.Spec.Names.Kind, s) {
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

// weakerThan returns the fields of a schema that lack a bound of the same field of the original.
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
	children := childrenOf(at, s)
	for name, child := range childrenOf(at, original) {
		if c := children[name]; c != nil {
			out = append(out, weakerThan(name, child, c)...)
		}
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
