// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	stdcmp "cmp"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestDesiredManifest(t *testing.T) {
	const paused = meta.AnnotationKeyReconciliationPaused
	type annotations = map[string]string
	all, observe := xpv2.ManagementPolicies{xpv2.ManagementActionAll}, xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	k, tpl := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0")
	c := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "k-a", Labels: map[string]string{v1alpha1.LabelChannel: "regular"}}}
	c.Spec.ProviderConfigReference, c.Spec.ManagementPolicies = k.Spec.ProviderConfigReference, k.Spec.ManagementPolicies
	c.Spec.ForProvider.Version, c.Spec.ForProvider.Mode = "2.0.0", v1alpha1.ModeApply
	planned := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }
	annotated := func(a annotations) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Annotations = a }
	}
	// A decision is a summary of a desired Manifest.
	type decision struct {
		version     string
		mode        v1alpha1.Mode
		adopt       bool
		controller  bool
		policies    xpv2.ManagementPolicies
		annotations annotations
		update      bool
	}
	cases := map[string]struct {
		reason  string
		intent  intent
		content *v1alpha1.Manifest
		live    func(*v1alpha1.Manifest)
		want    decision
	}{
		"Unchanged": {
			reason: "Without content, the Manifest stays as it is.",
			want:   decision{version: "1.0.0", controller: true, policies: all},
		},
		"Content": {
			reason:  "The content decides what is installed, and the Kyma its policies.",
			content: c, live: func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = observe },
			want: decision{version: "2.0.0", controller: true, policies: all, update: true},
		},
		"Adopt": {
			reason:  "An adoption that a user requested stays.",
			content: c, live: func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt },
			want: decision{version: "2.0.0", adopt: true, controller: true, policies: all, update: true},
		},
		"ForeignMetadata": {
			reason: "Labels and annotations of other clients are not applied, so that those clients keep owning them.",
			live: func(m *v1alpha1.Manifest) {
				m.Labels["other"], m.Annotations = "x", annotations{"other": "x", v1alpha1.AnnotationTest: "1"}
			},
			want: decision{version: "1.0.0", controller: true, policies: all},
		},
		"Pause": {
			reason: "An annotation records who paused the Manifest.", intent: intent{pause: true},
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{paused: "true", v1alpha1.AnnotationPausedBy: "k"}, update: true},
		},
		"PausedByUser": {
			reason: "A Manifest that a user paused stays paused.", intent: intent{pause: true}, live: annotated(annotations{paused: "true"}),
			want: decision{version: "1.0.0", controller: true, policies: all},
		},
		"PausedAgain": {
			reason: "A user cannot end a pause of the Kyma.", intent: intent{pause: true},
			live: annotated(annotations{paused: "false", v1alpha1.AnnotationPausedBy: "k"}),
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{paused: "true", v1alpha1.AnnotationPausedBy: "k"}, update: true},
		},
		"Resume": {
			reason: "The Kyma ends its pause.", live: annotated(annotations{paused: "true", v1alpha1.AnnotationPausedBy: "k"}),
			want: decision{version: "1.0.0", controller: true, policies: all, update: true},
		},
		"NotResumed": {
			reason: "The Kyma does not end a pause of a user.", live: annotated(annotations{paused: "true"}),
			want: decision{version: "1.0.0", controller: true, policies: all},
		},
		"Plan": {
			reason: "Mode Plan is set together with the planned content.", intent: intent{plan: true}, content: c,
			want: decision{version: "2.0.0", mode: v1alpha1.ModePlan, controller: true, policies: all, update: true},
		},
		"PlanWithoutContent": {
			reason: "Mode Plan is set even without content.", intent: intent{plan: true},
			want: decision{version: "1.0.0", mode: v1alpha1.ModePlan, controller: true, policies: all, update: true},
		},
		"Planned": {
			reason: "Mode Plan stays until the content can be applied.",
			live:   planned,
			want:   decision{version: "1.0.0", mode: v1alpha1.ModePlan, controller: true, policies: all},
		},
		"Execute": {
			reason: "When mode Plan ends, the current content is applied.", content: c, live: planned,
			want: decision{version: "2.0.0", mode: v1alpha1.ModeApply, controller: true, policies: all, update: true},
		},
		"ExecuteWithoutContent": {
			reason: "Mode Plan ends without a change if nothing is planned.", intent: intent{execute: true}, live: planned,
			want: decision{version: "1.0.0", mode: v1alpha1.ModeApply, controller: true, policies: all, update: true},
		},
		"Removal": {
			reason: "The annotations force-removal and abandon are propagated.", intent: intent{abandon: true, forceRemoval: true}, live: deleted,
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationAbandon: "true", v1alpha1.AnnotationForceRemoval: "true"}, update: true},
		},
		"DeleteAdopted": {
			reason: "The annotation delete-adopted is propagated.", intent: intent{deleteAdopted: true}, live: deleted,
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationDeleteAdopted: "true"}, update: true},
		},
		"SharedRemoval": {
			reason: "In the control plane, a forced removal could delete what other tenants have.",
			intent: intent{abandon: true, forceRemoval: true, deleteAdopted: true, controlPlane: "control-plane"}, live: func(m *v1alpha1.Manifest) {
				deleted(m)
				m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "control-plane"}
			},
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationAbandon: "true"}, update: true},
		},
		"NewCluster": {
			reason: "The annotation cluster-changed is propagated.", intent: intent{newCluster: "b"}, live: planned,
			want: decision{version: "1.0.0", mode: v1alpha1.ModePlan, controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationClusterChanged: "b"}, update: true},
		},
		"NewClusterKnown": {
			reason: "An annotation that the Manifest already has is not written again.", intent: intent{newCluster: "b"}, live: annotated(annotations{v1alpha1.AnnotationClusterChanged: "b"}),
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationClusterChanged: "b"}},
		},
		"RemovalStays": {
			reason: "The annotations of a removal stay on the Manifest.", live: annotated(annotations{v1alpha1.AnnotationAbandon: "true", v1alpha1.AnnotationForceRemoval: "true"}),
			want: decision{version: "1.0.0", controller: true, policies: all, annotations: annotations{v1alpha1.AnnotationAbandon: "true", v1alpha1.AnnotationForceRemoval: "true"}},
		},
		"Policies": {
			reason: "Policies are those of the Kyma, even without content.", intent: intent{policies: observe},
			want: decision{version: "1.0.0", controller: true, policies: observe, update: true},
		},
		"Released": {
			reason: "A released Manifest does not get its owner again.",
			live: func(m *v1alpha1.Manifest) {
				m.OwnerReferences, m.Annotations = nil, annotations{v1alpha1.AnnotationReleasedBy: string(kymaUID)}
			},
			want: decision{version: "1.0.0", policies: all},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live := installed(k, tpl)
			if tc.live != nil {
				tc.live(live)
			}
			before := live.DeepCopy()
			m := desiredManifest(k, tc.intent, tc.content, live)
			got := decision{
				version: m.Spec.ForProvider.Version, mode: m.Spec.ForProvider.Mode, adopt: m.Spec.ForProvider.Adoption == v1alpha1.AdoptionPolicyAdopt, controller: metav1.IsControlledBy(m, k),
				policies: m.Spec.ManagementPolicies, annotations: m.Annotations, update: needsUpdate(live, m),
			}
			if len(got.annotations) == 0 {
				got.annotations = nil
			}
			tc.want.mode = stdcmp.Or(tc.want.mode, v1alpha1.ModeApply)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(decision{})); diff != "" {
				t.Errorf("\n%s\ndesiredManifest(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, live); diff != "" {
				t.Errorf("\n%s\ndesiredManifest(...): the live Manifest must not change: -want, +got:\n%s", tc.reason, diff)
			}
			if m.Name != live.Name || m.Namespace != live.Namespace || m.UID != live.UID {
				t.Errorf("\n%s\ndesiredManifest(...): want that of %s, got %s/%s %s", tc.reason, live.Name, m.Namespace, m.Name, m.UID)
			}
		})
	}
}

func TestDesiredManifestOfNew(t *testing.T) {
	k, tpl := newKyma(), newTemplate("a", "regular", "1.0.0")
	k.Spec.ForProvider.Mode = v1alpha1.ModePlan
	m := desiredOf(k, tpl, v1alpha1.Module{Name: "a"}, nil)
	if m.Name != "k-a" || m.Namespace != namespace || m.UID != "" || !metav1.IsControlledBy(m, k) {
		t.Errorf("desiredManifest(...): %+v", m.ObjectMeta)
	}
	if got := m.Spec.ForProvider.Mode; got != v1alpha1.ModePlan {
		t.Errorf("desiredManifest(...): a module that is only planned must not be applied: want mode Plan, got %s", got)
	}
}

// TestNeedsUpdate checks that a Manifest from the API server does not differ from what was applied.
func TestNeedsUpdate(t *testing.T) {
	rollback := &v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerNotReady, After: metav1.Duration{Duration: time.Hour}}
	k, tpl := newKyma(), newTemplate("a", "regular", "1.0.0")
	module := v1alpha1.Module{
		Name: "a", Drift: v1alpha1.DriftPolicyReport, Rollback: rollback, Adoption: v1alpha1.AdoptionPolicyAdopt,
		Values:     &runtime.RawExtension{Raw: []byte(`{"b": 1.0, "a": {"x": null}}`)},
		ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s", Key: "values.yaml"}},
	}
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Manifest)
		want   bool
	}{
		"Nothing": {"The API server returned the Manifest unchanged.", func(*v1alpha1.Manifest) {}, false},
		"Encoding": {"The API server encodes in its own way.", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":1}`)
		}, false},
		"Value": {"A user has changed a value.", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs[0].Values.Raw = []byte(`{"a":{"x":null},"b":2}`)
		}, true},
		"Rollback": {"A user has removed the rollback.", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Rollback = nil }, true},
		"Label":    {"A user has removed a label.", func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelChannel) }, true},
		"Surplus":  {"The template has no controller name.", func(m *v1alpha1.Manifest) { m.Labels[v1alpha1.LabelControllerName] = "x" }, true},
		"Other":    {"Labels of others stay.", func(m *v1alpha1.Manifest) { m.Labels["other"] = "x" }, false},
		"Policies": {"A user has changed the policies.", func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = nil }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(desiredOf(k, tpl, module, nil))
			if err != nil {
				t.Fatal(err)
			}
			live := &v1alpha1.Manifest{}
			if err := json.Unmarshal(b, live); err != nil {
				t.Fatal(err)
			}
			tc.change(live)
			if got := needsUpdate(live, desiredOf(k, tpl, module, live)); got != tc.want {
				t.Errorf("\n%s\nneedsUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
