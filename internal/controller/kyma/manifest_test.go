// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestManifestOf(t *testing.T) {
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
			reason:   "Where nobody asks for signatures, the Manifest stays small.",
			template: newTemplate("a", "regular", "1.0.0", inline), config: "ProviderConfig cluster",
		},
		"Inline": {
			reason:   "The descriptor goes with the Manifest.",
			template: newTemplate("a", "regular", "1.0.0", inline), verified: true, config: "ProviderConfig cluster",
			want: v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: []byte(`{"meta":{}}`)}},
		},
		"Component": {
			reason:   "One in a registry is named by its digest.",
			template: newTemplate("a", "regular", "1.0.0"), verified: true, config: "ProviderConfig cluster",
			want: v1alpha1.ManifestParameters{Component: &v1alpha1.ComponentDigest{
				Component: v1alpha1.Component{Repository: "registry/modules", Name: "example.org/a", Version: "1.0.0", NameMapping: v1alpha1.NameMappingURLPath},
				Digest:    digest,
			}},
		},
		"ControlPlane": {
			reason: "A module of the control plane goes there.",
			template: newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) {
				t.Spec.Target = v1alpha1.ModuleTargetControlPlane
			}),
			config: "ClusterProviderConfig control-plane",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(newKyma(), nil)
			p.verified = func(*xpv2.ProviderConfigReference) bool { return tc.verified }
			m, err := p.manifestOf(&tc.template, &v1alpha1.Module{Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			got := v1alpha1.ManifestParameters{Descriptor: m.Spec.ForProvider.Descriptor, Component: m.Spec.ForProvider.Component}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmanifestOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			ref := m.Spec.ProviderConfigReference
			if got := ref.Kind + " " + ref.Name; got != tc.config {
				t.Errorf("\n%s\nmanifestOf(...): want %s, got %s", tc.reason, tc.config, got)
			}
		})
	}
}

func TestCorrectedAgain(t *testing.T) {
	k, tpl := newKyma(v1alpha1.Module{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"b": 1.0, "a": {"x": null}}`)}}), newTemplate("a", "regular", "1.0.0")
	wanted, err := newPlanner(k, nil).manifestOf(&tpl, &k.Spec.ForProvider.Modules[0])
	if err != nil {
		t.Fatal(err)
	}
	live := wanted.DeepCopy()
	// The API server encodes in its own way.
	live.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":1}`)
	if _, differs := corrected(live, wanted); differs {
		t.Error("corrected(...): another encoding of the same is no difference")
	}
	live.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":2}`)
	live.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":1,"c":9007199254740992}`)
	k.Spec.ForProvider.Modules[0].Values.Raw = []byte(`{"a":{"x":null},"b":1,"c":9007199254740993}`)
	if _, differs := corrected(live, wanted); !differs {
		t.Error("corrected(...): large numbers are not rounded")
	}
	k.Spec.ForProvider.Modules[0].Values.Raw = []byte(`{"a":{"x":null},"b":1}`)
	live.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":2}`)
	out, differs := corrected(live, wanted)
	if !differs {
		t.Error("corrected(...): another value is a difference")
	}
	if _, differs := corrected(out, wanted); differs {
		t.Error("corrected(...): what was corrected is correct")
	}
}

func TestHandedOn(t *testing.T) {
	rollback := &v1alpha1.Rollback{On: v1alpha1.RollbackOnNotReady, After: metav1.Duration{Duration: time.Hour}}
	k, tpl := newKyma(v1alpha1.Module{
		Name: "a", Drift: v1alpha1.DriftPolicyReport, Rollback: rollback, Adopt: true,
		ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s", Key: "values.yaml"}},
	}), newTemplate("a", "regular", "1.0.0")
	wanted, err := newPlanner(k, nil).manifestOf(&tpl, &k.Spec.ForProvider.Modules[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	live := &v1alpha1.Manifest{}
	if err := json.Unmarshal(b, live); err != nil {
		t.Fatal(err)
	}
	if _, differs := corrected(live, wanted); differs {
		t.Error("corrected(...): what comes back from the API server is no difference")
	}
	live.Spec.ForProvider.Rollback = nil
	if out, differs := corrected(live, wanted); !differs || cmp.Diff(rollback, out.Spec.ForProvider.Rollback) != "" {
		t.Error("corrected(...): a rollback is handed on")
	}
	k.Spec.ForProvider.Modules[0].Adopt = false
	wanted.Spec.ForProvider.Adopt = false
	if out, _ := corrected(live, wanted); !out.Spec.ForProvider.Adopt {
		t.Error("corrected(...): adopt may be asked for on the Manifest, too")
	}
	k.Annotations = map[string]string{v1alpha1.AnnotationPlan: "true"}
	if m, err := newPlanner(k, nil).manifestOf(&tpl, &k.Spec.ForProvider.Modules[0]); err != nil || m.Annotations[v1alpha1.AnnotationPlan] != "true" {
		t.Errorf("manifestOf(...): a module that is only planned must not be applied: %v", err)
	}
}

func TestDifference(t *testing.T) {
	k, tpl := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0")
	cases := map[string]struct {
		reason string
		before func(m *v1alpha1.Manifest)
		change func(m *v1alpha1.Manifest)
		want   string
	}{
		"Label": {
			reason: "The labels of others stay.",
			change: func(m *v1alpha1.Manifest) { m.Labels = map[string]string{"x": "y"} },
			want:   `[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]`,
		},
		"Policies": {
			reason: "Policies are handed on.",
			change: func(m *v1alpha1.Manifest) {
				m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			},
			want: `[{"op":"add","path":"/spec/managementPolicies","value":["Observe"]}]`,
		},
		"CarriedOut": {
			reason: "That it is only planned is taken back along with all else.",
			before: func(m *v1alpha1.Manifest) { meta.AddAnnotations(m, plannedBy(k)) },
			change: func(m *v1alpha1.Manifest) { m.Annotations = nil },
			want: `[{"op":"remove","path":"/metadata/annotations/kyma.m.crossplane.io~1planned-by","value":null},` +
				`{"op":"remove","path":"/metadata/annotations/kyma.m.crossplane.io~1plan","value":null}]`,
		},
		"Null": {
			reason: "A null in values takes out a default of the chart, and must arrive.",
			change: func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider = v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"x":null}`)}}}}
			},
			want: `[{"op":"add","path":"/spec/forProvider","value":{"installs":[{"name":"a","source":{"type":""},"values":{"x":null}}]}}]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live := installed(k, tpl)
			if tc.before != nil {
				tc.before(live)
			}
			wanted := live.DeepCopy()
			tc.change(wanted)
			p, err := difference(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.Data(wanted)
			if diff := cmp.Diff(tc.want, string(b)); diff != "" || err != nil || p.Type() != types.JSONPatchType {
				t.Errorf("\n%s\ndifference(...): %v, %s, -want, +got:\n%s", tc.reason, err, p.Type(), diff)
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
