// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

func TestContentOf(t *testing.T) {
	inline := func(t *v1alpha1.ModuleTemplate) {
		t.Spec.Component, t.Spec.Descriptor = nil, &runtime.RawExtension{Raw: []byte(`{"meta":{}}`)}
	}
	cases := map[string]struct {
		reason   string
		template v1alpha1.ModuleTemplate
		verified bool
		want     v1alpha1.ManifestParameters
		config   string
	}{
		"NotAsked": {
			reason:   "If signatures are not required, the Manifest does not contain the descriptor.",
			template: newTemplate("a", "regular", "1.0.0", inline), config: "ProviderConfig cluster",
		},
		"Inline": {
			reason:   "The Manifest contains the descriptor.",
			template: newTemplate("a", "regular", "1.0.0", inline), verified: true, config: "ProviderConfig cluster",
			want: v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: []byte(`{"meta":{}}`)}},
		},
		"Component": {
			reason:   "The Manifest refers to a descriptor in a registry by its digest.",
			template: newTemplate("a", "regular", "1.0.0"), verified: true, config: "ProviderConfig cluster",
			want: v1alpha1.ManifestParameters{Component: &v1alpha1.ComponentDigest{
				Component: v1alpha1.Component{Repository: "registry/modules", Name: "example.org/a", Version: "1.0.0", NameMapping: v1alpha1.NameMappingURLPath},
				Digest:    digest,
			}},
		},
		"ControlPlane": {
			reason: "A module for the control plane is installed there.",
			template: newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) {
				t.Spec.Target = v1alpha1.ModuleTargetControlPlane
			}),
			config: "ClusterProviderConfig control-plane",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(newKyma(), nil)
			p.verified = map[xpv2.ProviderConfigReference]bool{*p.kyma.Spec.ProviderConfigReference: tc.verified}
			c, err := p.contentOf(&tc.template, &v1alpha1.Module{Name: "a"}, "regular")
			if err != nil {
				t.Fatal(err)
			}
			got := v1alpha1.ManifestParameters{Descriptor: c.Spec.ForProvider.Descriptor, Component: c.Spec.ForProvider.Component}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncontentOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := c.Spec.ProviderConfigReference.Kind + " " + c.Spec.ProviderConfigReference.Name; got != tc.config {
				t.Errorf("\n%s\ncontentOf(...): want %s, got %s", tc.reason, tc.config, got)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	values := func(raw string) *v1alpha1.ManifestParameters {
		return &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(raw)}}}}
	}
	cases := map[string]struct {
		reason string
		a, b   string
		want   bool
	}{
		"Same":         {"The same encoding is equal.", `{"a":null}`, `{"a":null}`, true},
		"Encoding":     {"Another encoding of the same is equal.", `{"b": 1.0, "a": {"x": null}}`, `{"a":{"x":null},"b":1}`, true},
		"Value":        {"Another value is not.", `{"b":1}`, `{"b":2}`, false},
		"Null":         {"A null is a value.", `{"b":1,"a":null}`, `{"b":1}`, false},
		"LargeNumbers": {"Large numbers are not rounded.", `{"b": 1.0, "c":9007199254740992}`, `{"b":1,"c":9007199254740993}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := module.EqualParameters(values(tc.a), values(tc.b)); got != tc.want {
				t.Errorf("\n%s\nequal(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"}, v1alpha1.Module{Name: "c"})
	templates := []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0"), newTemplate("b", "regular", "1.0.0"), newTemplate("c", "regular", "1.0.0")}
	var children []*v1alpha1.Manifest
	for _, t := range templates {
		children = append(children, installed(k, t))
	}
	p := newPlanner(k, templates, children...)
	b.ReportAllocs()
	for b.Loop() {
		report(k, p.plan())
	}
}
