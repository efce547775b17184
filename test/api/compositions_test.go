// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// patchAndTransform contains the fields of the input of the function with this name that the tests read.
type patchAndTransform struct {
	Resources []struct {
		Name string         `json:"name"`
		Base map[string]any `json:"base"`

		Patches []struct {
			Type          string `json:"type"`
			FromFieldPath string `json:"fromFieldPath"`
			ToFieldPath   string `json:"toFieldPath"`

			Policy struct {
				FromFieldPath string `json:"fromFieldPath"`
			} `json:"policy"`
		} `json:"patches"`
	} `json:"resources"`
}

// TestCompositions checks that each field that a patch reads or writes exists. A patch of a field that does not exist is not an
// error, but has no effect.
func TestCompositions(t *testing.T) {
	schemas, err := schemasOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	patches := 0
	for _, file := range examples(t) {
		for _, o := range documents(t, filepath.Join(root, file)) {
			if o.GetKind() != apiv1.CompositionKind {
				continue
			}
			c := &apiv1.Composition{}
			convert(t, o.Object, c)
			of := schema.FromAPIVersionAndKind(c.Spec.CompositeTypeRef.APIVersion, c.Spec.CompositeTypeRef.Kind)
			if schemas[of] == nil {
				t.Errorf("%s: there is no CRD of %s", file, of)
				continue
			}
			for i := range c.Spec.Pipeline {
				patches += checkPatches(t, file, schemas, schemas[of], c.Spec.Pipeline[i].Input)
			}
		}
	}
	if patches == 0 {
		t.Error("no Composition has patches")
	}
}

// checkPatches checks the patches of one step of a pipeline, and returns their number.
func checkPatches(t *testing.T, file string, schemas map[schema.GroupVersionKind]*extv1.JSONSchemaProps, composite *extv1.JSONSchemaProps,
	input *runtime.RawExtension,
) int {
	t.Helper()
	patches := 0
	for _, r := range patchesOf(t, input).Resources {
		version, _ := r.Base["apiVersion"].(string)
		kind, _ := r.Base["kind"].(string)
		composed := schemas[schema.FromAPIVersionAndKind(version, kind)]
		for _, p := range r.Patches {
			patches++
			from, to := composite, composed
			if strings.HasPrefix(p.Type, "ToComposite") {
				from, to = composed, composite
			}
			if !hasField(from, p.FromFieldPath) {
				t.Errorf("%s: resource %s: a patch reads %s, which does not exist", file, r.Name, p.FromFieldPath)
			}
			if !hasField(to, p.ToFieldPath) {
				t.Errorf("%s: resource %s: a patch writes %s, which does not exist", file, r.Name, p.ToFieldPath)
			}
		}
	}
	return patches
}

// patchesOf returns the input of a step of a pipeline. It is empty if the step has none.
func patchesOf(t *testing.T, input *runtime.RawExtension) *patchAndTransform {
	t.Helper()
	in := &patchAndTransform{}
	if input != nil {
		if err := json.Unmarshal(input.Raw, in); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// hasField reports whether a schema has a field. For an unknown kind, it checks only the metadata.
func hasField(s *extv1.JSONSchemaProps, path string) bool {
	segments, err := fieldpath.Parse(path)
	if err != nil || len(segments) == 0 {
		return false
	}
	if segments[0].Field == "metadata" {
		return hasMetadata(segments[1:])
	}
	for _, segment := range segments {
		if s == nil || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
			return true
		}
		next, ok := s.Properties[segment.Field]
		switch {
		case s.Items != nil && (segment.Type == fieldpath.SegmentIndex || segment.Field == "*"):
			s = s.Items.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && segment.Type == fieldpath.SegmentField:
			s = s.AdditionalProperties.Schema
		case ok:
			s = &next
		default:
			return false
		}
	}
	return true
}

// hasMetadata reports whether objects have a field below metadata that a patch can use. The API server sets the other fields.
func hasMetadata(path fieldpath.Segments) bool {
	maps := []string{"annotations", "labels"}
	switch len(path) {
	case 1:
		return slices.Contains(append(maps, "name", "namespace", "generateName", "uid"), path[0].Field)
	case 2:
		return slices.Contains(maps, path[0].Field) && len(validation.IsQualifiedName(path[1].Field)) == 0
	}
	return false
}

// schemasOf returns the schemas of all kinds with a CRD in the server.
func schemasOf(ctx context.Context) (map[schema.GroupVersionKind]*extv1.JSONSchemaProps, error) {
	list, err := client.Resource(extv1.SchemeGroupVersion.WithResource("customresourcedefinitions")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, errors.Wrap(err, "cannot list XRDs")
	}
	out := map[schema.GroupVersionKind]*extv1.JSONSchemaProps{}
	for i := range list.Items {
		crd := &extv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, crd); err != nil {
			return nil, errors.Wrapf(err, "%q", list.Items[i].GetName())
		}
		for _, v := range crd.Spec.Versions {
			if v.Schema != nil {
				out[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = v.Schema.OpenAPIV3Schema
			}
		}
	}
	return out, nil
}

// TestXRDs checks that a module of a composite resource has the fields of a module of a Kyma, and that its connection to the
// cluster has the fields of a ProviderConfig, except for credentials of the provider, and for namespaces, because Secrets are
// always in its own namespace. A value that these kinds refuse must be refused in the composite resource too, and a field that they
// default must have the same default there.
func TestXRDs(t *testing.T) {
	schemas, err := schemasOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := func(kind schema.GroupVersionKind, path ...string) *extv1.JSONSchemaProps {
		s := schemas[kind]
		for _, name := range path {
			if s == nil {
				break
			}
			next, ok := s.Properties[name]
			if !ok {
				t.Fatalf("%s has no %s", kind, strings.Join(path, "."))
			}
			s = &next
		}
		return s
	}
	config := v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.ProviderConfigKind)
	cases := map[string]*extv1.JSONSchemaProps{
		"mode":         of(v1alpha1.KymaGroupVersionKind, "spec", "forProvider", "mode"),
		"channel":      of(v1alpha1.KymaGroupVersionKind, "spec", "forProvider", "channel"),
		"modules":      of(v1alpha1.KymaGroupVersionKind, "spec", "forProvider", "modules"),
		"identity":     of(config, "spec", "identity"),
		"registries":   of(config, "spec", "registries"),
		"verification": of(config, "spec", "verification"),
	}
	for _, kind := range []string{"KymaEnvironment", "KymaEnvironmentClaim"} {
		for field, original := range cases {
			t.Run(kind+" "+field, func(t *testing.T) {
				want := slices.DeleteFunc(fieldsOf("", original), func(f string) bool {
					return strings.HasSuffix(f, "SecretRef.namespace") || f == "secretRef.namespace" || strings.HasPrefix(f, "env") || strings.HasPrefix(f, "fs")
				})
				got := of(schema.GroupVersionKind{Group: "platform.kyma.crossplane.io", Version: "v1alpha1", Kind: kind}, "spec", field)
				if diff := cmp.Diff(want, fieldsOf("", got)); diff != "" {
					t.Errorf("fields of %s: -wanted, +%s:\n%s", field, kind, diff)
				}
				if weaker := weakerThan("", original, got); len(weaker) > 0 {
					t.Errorf("%s accepts values that the original refuses:\n%s", kind, strings.Join(weaker, "\n"))
				}
			})
		}
	}
}

// fieldsOf returns the sorted paths of the fields below a schema. The path of a list ends with its maximum number of items in
// brackets.
func fieldsOf(at string, s *extv1.JSONSchemaProps) []string {
	if s.Items != nil {
		bound := ""
		if s.MaxItems != nil {
			bound = strconv.FormatInt(*s.MaxItems, 10)
		}
		return append(fieldsOf(at, s.Items.Schema), at+"["+bound+"]")
	}
	var out []string
	for name, child := range s.Properties {
		path := strings.TrimPrefix(at+"."+name, ".")
		out = append(append(out, path), fieldsOf(path, &child)...)
	}
	slices.Sort(out)
	return out
}
