// SPDX-License-Identifier: Apache-2.0

package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestParameters(t *testing.T) {
	raw := func(s string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(s)} }
	source := func(kind v1alpha1.SourceType, ref string) *v1alpha1.Source {
		return &v1alpha1.Source{Type: kind, Repo: "reg/component-descriptors", Name: "x.io/m", Ref: ref}
	}
	layer := func(ref string) *v1alpha1.LayerSource {
		return &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: "reg/component-descriptors", Name: "x.io/m", Ref: ref}
	}
	resources := []v1alpha1.ModuleResource{
		{Name: "op", Type: "helm-chart", Use: v1alpha1.UseInstall, Install: "op", Source: source(v1alpha1.SourceTypeOCIRef, "1")},
		{Name: "raw-manifest", Type: "yaml", Use: v1alpha1.UseInstall, Install: "raw-manifest", Source: source(v1alpha1.SourceTypeRaw, "2")},
		{Name: "crds", Type: "yaml", Use: v1alpha1.UseCRDs, Source: source(v1alpha1.SourceTypeOCIRef, "3")},
		{Name: "config", Type: "yaml", Use: v1alpha1.UseConfig, Source: source(v1alpha1.SourceTypeOCIRef, "4")},
		{Name: "default-cr", Type: "yaml", Use: v1alpha1.UseCustomResource, Source: source(v1alpha1.SourceTypeOCIRef, "5")},
		{Name: "image", Type: "ociImage", Use: v1alpha1.UseNone},
	}
	chart := func(name, ref string) v1alpha1.ModuleResource {
		return v1alpha1.ModuleResource{
			Name: name, Type: "helm-chart", Use: v1alpha1.UseInstall, Install: name, Source: source(v1alpha1.SourceTypeOCIRef, ref),
		}
	}
	cases := map[string]struct {
		reason string
		spec   v1alpha1.ModuleTemplateSpec
		status v1alpha1.ModuleTemplateStatus
		module v1alpha1.Module
		want   v1alpha1.ManifestParameters
		err    string
	}{
		"Whole": {
			reason: "Each resource is assigned to its field: crds to crds, not to config.",
			spec:   v1alpha1.ModuleTemplateSpec{Readiness: []v1alpha1.ReadinessRule{{CEL: "true"}}},
			status: v1alpha1.ModuleTemplateStatus{Version: "1.0.0", Resources: resources, Data: raw(`{"kind":"K","metadata":{"name":"mine"}}`)},
			module: v1alpha1.Module{Name: "m", CustomResourcePolicy: v1alpha1.CustomResourcePolicyIgnore, Values: raw(`{"a":1}`)},
			want: v1alpha1.ManifestParameters{
				Version: "1.0.0",
				Installs: []v1alpha1.Install{
					{Name: "op", Namespace: "default", Source: *source(v1alpha1.SourceTypeOCIRef, "1"), Values: raw(`{"a":1}`)},
					{Name: "raw-manifest", Namespace: "default", Source: *source(v1alpha1.SourceTypeRaw, "2")},
				},
				CRDs: layer("3"), Config: layer("4"), Resource: raw(`{"kind":"K","metadata":{"name":"mine"}}`), Drift: v1alpha1.DriftPolicyRepair,
				Mode: v1alpha1.ModeApply, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRefuse, Adoption: v1alpha1.AdoptionPolicyRefuse,
				CustomResourcePolicy: v1alpha1.CustomResourcePolicyIgnore, Readiness: []v1alpha1.ReadinessRule{{CEL: "true"}},
			},
		},
		"Data": {
			reason: "Data in the spec takes precedence over the component, and gets a name if it has none.",
			spec:   v1alpha1.ModuleTemplateSpec{Data: raw(`{"kind":"K"}`)},
			status: v1alpha1.ModuleTemplateStatus{Data: raw(`{"kind":"Other"}`)},
			module: v1alpha1.Module{Name: "m"},
			want: v1alpha1.ManifestParameters{
				Resource: raw(`{"kind":"K","metadata":{"name":"m"}}`), CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete,
				Drift: v1alpha1.DriftPolicyRepair, Mode: v1alpha1.ModeApply, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRefuse, Adoption: v1alpha1.AdoptionPolicyRefuse,
			},
		},
		"Numbers": {
			reason: "Numbers are not rounded when a name is added.",
			spec:   v1alpha1.ModuleTemplateSpec{Data: raw(`{"kind":"K","spec":{"id":9007199254740993,"share":0.5}}`)},
			module: v1alpha1.Module{Name: "m"},
			want: v1alpha1.ManifestParameters{
				Resource:             raw(`{"kind":"K","metadata":{"name":"m"},"spec":{"id":9007199254740993,"share":0.5}}`),
				CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete, Drift: v1alpha1.DriftPolicyRepair,
				Mode: v1alpha1.ModeApply, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRefuse, Adoption: v1alpha1.AdoptionPolicyRefuse,
			},
		},
		"Policies": {
			reason: "The Manifest gets drift, rollback, adoption and values of the module, with the defaults of the API.",
			status: v1alpha1.ModuleTemplateStatus{Resources: resources[:2]},
			module: v1alpha1.Module{
				Name: "m", Drift: v1alpha1.DriftPolicyIgnore, Mode: v1alpha1.ModePlan, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRecreate,
				Adoption: v1alpha1.AdoptionPolicyAdopt, Rollback: &v1alpha1.Rollback{},
				ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}, {Kind: "ConfigMap", Name: "c", Key: "k"}},
			},
			want: v1alpha1.ManifestParameters{
				Installs: []v1alpha1.Install{
					{
						Name: "op", Namespace: "default", Source: *source(v1alpha1.SourceTypeOCIRef, "1"),
						ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s", Key: "values.yaml"}, {Kind: "ConfigMap", Name: "c", Key: "k"}},
					},
					{Name: "raw-manifest", Namespace: "default", Source: *source(v1alpha1.SourceTypeRaw, "2")},
				},
				CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete,
				Drift:                v1alpha1.DriftPolicyIgnore, Mode: v1alpha1.ModePlan, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRecreate,
				Adoption: v1alpha1.AdoptionPolicyAdopt, Rollback: &v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerFailed},
			},
		},
		"Values": {
			reason: "Values of an install override those of the module; numbers are not rounded, null stays, and lists are replaced.",
			status: v1alpha1.ModuleTemplateStatus{Resources: []v1alpha1.ModuleResource{chart("op", "1"), chart("db", "2")}},
			module: v1alpha1.Module{
				Name: "m", Values: raw(`{"a":{"b":1,"c":2},"list":[1,2]}`), ValuesFrom: []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "all", Key: "k"}},
				Installs: []v1alpha1.ModuleInstall{{
					Name: "db", Values: raw(`{"a":{"c":null},"list":[9007199254740993]}`), ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own"}},
				}},
			},
			want: v1alpha1.ManifestParameters{
				Installs: []v1alpha1.Install{
					{
						Name: "op", Namespace: "default", Source: *source(v1alpha1.SourceTypeOCIRef, "1"), Values: raw(`{"a":{"b":1,"c":2},"list":[1,2]}`),
						ValuesFrom: []v1alpha1.ValuesReference{{Kind: "ConfigMap", Name: "all", Key: "k"}},
					},
					{
						Name: "db", Namespace: "default", Source: *source(v1alpha1.SourceTypeOCIRef, "2"),
						Values: raw(`{"a":{"b":1,"c":null},"list":[9007199254740993]}`),
						ValuesFrom: []v1alpha1.ValuesReference{
							{Kind: "ConfigMap", Name: "all", Key: "k"}, {Kind: "Secret", Name: "own", Key: "values.yaml"},
						},
					},
				},
				CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete, Drift: v1alpha1.DriftPolicyRepair,
				Mode: v1alpha1.ModeApply, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRefuse, Adoption: v1alpha1.AdoptionPolicyRefuse,
			},
		},
		"OnlyInstall": {
			reason: "Values of an install do not require values of the module, and are not changed.",
			status: v1alpha1.ModuleTemplateStatus{Resources: []v1alpha1.ModuleResource{chart("op", "1")}},
			module: v1alpha1.Module{Name: "m", Installs: []v1alpha1.ModuleInstall{{Name: "op", Values: raw(`{"b": 1, "a": 2}`)}}},
			want: v1alpha1.ManifestParameters{
				Installs:             []v1alpha1.Install{{Name: "op", Namespace: "default", Source: *source(v1alpha1.SourceTypeOCIRef, "1"), Values: raw(`{"b": 1, "a": 2}`)}},
				CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete, Drift: v1alpha1.DriftPolicyRepair,
				Mode: v1alpha1.ModeApply, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRefuse, Adoption: v1alpha1.AdoptionPolicyRefuse,
			},
		},
		"UnknownInstall": {
			reason: "The error lists the names of the installs of the module.",
			status: v1alpha1.ModuleTemplateStatus{Resources: resources},
			module: v1alpha1.Module{Name: "m", Installs: []v1alpha1.ModuleInstall{{Name: "operator"}}},
			err:    `the module has no install "operator": correct installs["operator"]; the module has "op", "raw-manifest"`,
		},
		"NoInstall": {
			reason: "A module may have no installs.",
			status: v1alpha1.ModuleTemplateStatus{Resources: resources[2:], Data: raw(`{"kind":"K"}`)},
			module: v1alpha1.Module{Name: "m", Installs: []v1alpha1.ModuleInstall{{Name: "operator"}}},
			err:    `the module has no install "operator": correct installs["operator"]; the module has no installs`,
		},
		"NoChart": {
			reason: "Only charts can have values.",
			status: v1alpha1.ModuleTemplateStatus{Resources: resources},
			module: v1alpha1.Module{Name: "m", Installs: []v1alpha1.ModuleInstall{{Name: "raw-manifest", Values: raw(`{}`)}}},
			err:    `install "raw-manifest" is not a chart and has no values: remove installs["raw-manifest"]`,
		},
		"NullData": {
			reason: "Null is not a valid custom resource.",
			spec:   v1alpha1.ModuleTemplateSpec{Data: raw(`null`)},
			err:    "spec.data of ModuleTemplate t: must be an object",
		},
		"Empty": {
			reason: "A module that installs nothing is rejected.",
			module: v1alpha1.Module{Name: "m"},
			err:    "ModuleTemplate t contains nothing that can be installed",
		},
		"BadData": {
			reason: "Data that is not an object is rejected.",
			spec:   v1alpha1.ModuleTemplateSpec{Data: raw(`[]`)},
			err:    "spec.data of ModuleTemplate t: must be an object",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parameters(&v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: tc.spec, Status: tc.status}, &tc.module)
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("\n%s\nParameters(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nParameters(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nParameters(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
