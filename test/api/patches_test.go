// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	gocmp "github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var update = flag.Bool("update", false, "update the lists of patches in testdata/patches")

// TestPatches compares all patches of the packaged Compositions with a list. A Composition without one of them is valid, but the
// provider then silently ignores the field of the composite resource, for example verification. If you change a patch on purpose,
// run the test with -update.
func TestPatches(t *testing.T) {
	for _, name := range []string{"composition", "claim-composition"} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(patchList(t, filepath.Join(root, "package", "configuration", name+".yaml")), "\n") + "\n"
			golden := filepath.Join("testdata", "patches", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("patches of package/configuration/%s.yaml: -want, +got:\n%s", name, diff)
			}
		})
	}
}

// patchList returns the patches of the Composition in a file. Their order matters: a later patch of a field overrides an earlier one.
func patchList(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	for _, o := range documents(t, file) {
		c := &apiv1.Composition{}
		convert(t, o.Object, c)
		for i := range c.Spec.Pipeline {
			for _, r := range patchesOf(t, c.Spec.Pipeline[i].Input).Resources {
				for _, p := range r.Patches {
					line := fmt.Sprintf("%s: %s %s -> %s %s", r.Name, cmp.Or(p.Type, "FromCompositeFieldPath"), p.FromFieldPath, p.ToFieldPath, p.Policy.FromFieldPath)
					out = append(out, strings.TrimSpace(line))
				}
			}
		}
	}
	return out
}

func TestHasField(t *testing.T) {
	text, unknown := extv1.JSONSchemaProps{Type: "string"}, true
	s := &extv1.JSONSchemaProps{Properties: map[string]extv1.JSONSchemaProps{
		"spec": {Properties: map[string]extv1.JSONSchemaProps{
			"name":   text,
			"list":   {Items: &extv1.JSONSchemaPropsOrArray{Schema: &extv1.JSONSchemaProps{Properties: map[string]extv1.JSONSchemaProps{"name": text}}}},
			"map":    {AdditionalProperties: &extv1.JSONSchemaPropsOrBool{Schema: &text}},
			"values": {XPreserveUnknownFields: &unknown},
		}},
	}}
	cases := map[string]struct {
		reason string
		schema *extv1.JSONSchemaProps
		path   string
		want   bool
	}{
		"Field":          {reason: "The schema has this field.", schema: s, path: "spec.name", want: true},
		"NoField":        {reason: "The schema does not have this field.", schema: s, path: "spec.nam"},
		"BelowText":      {reason: "A string has no fields.", schema: s, path: "spec.name.first"},
		"Item":           {reason: "An item has this field.", schema: s, path: "spec.list[0].name", want: true},
		"Items":          {reason: "All items have this field.", schema: s, path: "spec.list[*].name", want: true},
		"NoItem":         {reason: "A list has no fields.", schema: s, path: "spec.list.name"},
		"NoFieldOfItem":  {reason: "An item does not have each field.", schema: s, path: "spec.list[0].value"},
		"Key":            {reason: "A map has any key.", schema: s, path: "spec.map[a.b/c]", want: true},
		"Unknown":        {reason: "An object without a schema can have any field.", schema: s, path: "spec.values.a.b", want: true},
		"Name":           {reason: "Each object has a name.", schema: s, path: "metadata.name", want: true},
		"Namespace":      {reason: "The schema has the namespace of the metadata.", schema: s, path: "metadata.namespace", want: true},
		"Annotation":     {reason: "Each object can have any annotation.", schema: s, path: "metadata.annotations[kyma.m.crossplane.io/abandon]", want: true},
		"Labels":         {reason: "All labels can be copied.", schema: s, path: "metadata.labels", want: true},
		"NoMetadata":     {reason: "The metadata has no other fields.", schema: s, path: "metadata.annotation[kyma.m.crossplane.io/abandon]"},
		"DottedKey":      {reason: "Dots of a key without brackets separate fields.", schema: s, path: "metadata.annotations.kyma.m.crossplane.io/abandon"},
		"NoKey":          {reason: "A key must be valid.", schema: s, path: "metadata.annotations[a b]"},
		"ServerMetadata": {reason: "The API server sets these fields.", schema: s, path: "metadata.generation"},
		"UnknownKind":    {reason: "A kind without a CRD is not checked.", path: "spec.any", want: true},
		"ItsMetadata":    {reason: "The metadata of an embedded resource is validated.", path: "metadata.nam"},
		"Invalid":        {reason: "A path must be valid.", schema: s, path: "spec.list["},
		"Empty":          {reason: "A patch without a path has no effect.", schema: s, path: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := hasField(tc.schema, tc.path); got != tc.want {
				t.Errorf("\n%s\nhasField(..., %q): want %t, got %t", tc.reason, tc.path, tc.want, got)
			}
		})
	}
}
