// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// rules are the rules of a schema, as "path keyword value". Items of a list have
// the path list[].
type rules struct {
	refuse   []string
	defaults map[string]string
}

// rulesOf reads the rules of a kind from package/crds.
func rulesOf(t *testing.T, plural string) rules {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "package", "crds", group+"_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions, want 1", crd.Name, len(crd.Spec.Versions))
	}
	out := rules{defaults: map[string]string{}}
	out.walk("", crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	return out
}

func (r *rules) walk(path string, s *extv1.JSONSchemaProps) {
	add := func(words ...string) {
		r.refuse = append(r.refuse, strings.TrimSpace(path+" "+strings.Join(words, " ")))
	}
	if s.Pattern != "" {
		add("pattern", s.Pattern)
	}
	if len(s.Enum) > 0 {
		add("enum", enum(s.Enum))
	}
	for keyword, limit := range map[string]*int64{
		"minLength": s.MinLength, "maxLength": s.MaxLength, "minItems": s.MinItems, "maxItems": s.MaxItems,
	} {
		if limit != nil {
			add(keyword, strconv.FormatInt(*limit, 10))
		}
	}
	for _, name := range s.Required {
		add("required", name)
	}
	for _, v := range s.XValidations {
		r.refuse = append(r.refuse, strings.TrimSpace(strings.TrimPrefix(path+v.FieldPath, ".")+" cel "+v.Message))
	}
	if len(s.XListMapKeys) > 0 {
		add("keys", strings.Join(s.XListMapKeys, ","))
	}
	if s.XEmbeddedResource {
		add("embedded")
	}
	if s.Default != nil {
		r.defaults[path] = string(s.Default.Raw)
	}
	for name := range s.Properties {
		child := s.Properties[name]
		r.walk(strings.TrimPrefix(path+"."+name, "."), &child)
	}
	if s.Items != nil {
		r.walk(path+"[]", s.Items.Schema)
	}
}

func enum(values []extv1.JSON) string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		var s string
		_ = json.Unmarshal(v.Raw, &s) // Enums are strings.
		out = append(out, s)
	}
	return strings.Join(out, ",")
}
