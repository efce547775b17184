// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// TestExamplesResolve reads the component descriptors in the examples in the same way as the provider. It omits descriptors in
// a registry, because there is none.
func TestExamplesResolve(t *testing.T) {
	found := 0
	for _, file := range examples(t) {
		for _, o := range documents(t, filepath.Join(root, file)) {
			if o.GetKind() != v1alpha1.ModuleTemplateKind || get(o, "spec.descriptor") == nil {
				continue
			}
			found++
			t.Run(file, func(t *testing.T) {
				template := &v1alpha1.ModuleTemplate{}
				convert(t, o.Object, template)
				resolution, err := module.NewResolver(nil, archive.DefaultLimits()).Resolve(t.Context(), nil, template)
				if err != nil {
					t.Fatal(err)
				}
				template.Status.Resources = resolution.Resources
				p, err := module.Parameters(template, &v1alpha1.Module{Name: resolution.ModuleName})
				if err != nil || len(p.Installs) == 0 {
					t.Errorf("the example must install something, it has %d installs: %v", len(p.Installs), err)
				}
			})
		}
	}
	if found == 0 {
		t.Error("examples has no ModuleTemplate with a descriptor")
	}
}

// TestExampleIsSigned verifies the signature in one example with the key in another one.
func TestExampleIsSigned(t *testing.T) {
	dir := filepath.Join(root, "examples")
	raw, err := json.Marshal(get(documents(t, filepath.Join(dir, "moduletemplate", "signed.yaml"))[0], "spec.descriptor"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := ocm.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	var pem, name string
	for _, o := range documents(t, filepath.Join(dir, "providerconfig", "verification.yaml")) {
		switch o.GetKind() {
		case "Secret":
			pem, _ = get(o, "stringData.key").(string)
		case v1alpha1.ProviderConfigKind:
			name, _ = get(o, "spec.verification.keys[0].signatureName").(string)
		}
	}
	key, err := ocm.ParseKey(name, []byte(pem))
	if err != nil {
		t.Fatal(err)
	}
	verified, err := ocm.Verify([]*ocm.Descriptor{d}, []ocm.Key{key})
	if err != nil {
		t.Fatalf("the signature of the example must be valid: %v", err)
	}
	for _, r := range d.Resources() {
		if !verified.Covers(r.Access.Digest) {
			t.Errorf("the signature does not cover resource %s", r.Name)
		}
	}
}

func convert(t *testing.T, from map[string]any, into any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
