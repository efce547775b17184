// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// desired returns the desired Kyma of a cluster, and its encoded form.
func desired(t *testing.T, set *v1alpha1.KymaSet) (*v1alpha1.Kyma, Object) {
	t.Helper()
	k, err := DesiredKyma(set, newCluster())
	if err != nil {
		t.Fatal(err)
	}
	o, err := Encode(k, v1alpha1.KymaGroupVersionKind)
	if err != nil {
		t.Fatal(err)
	}
	k.Annotations[v1alpha1.AnnotationKymaSetDigest] = o.GetAnnotations()[v1alpha1.AnnotationKymaSetDigest]
	return k, o
}

// TestIsApplied checks what makes a KymaSet write a Kyma.
func TestIsApplied(t *testing.T) {
	const values = `{"replicas":2,"ratio":1.0,"list":[{"name":"x","v":1}],"none":null,"empty":{}}`
	raw := func(s string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(s)} }
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.Kyma)
		want   bool
	}{
		"Same":     {reason: "An unchanged Kyma needs no write.", edit: func(*v1alpha1.Kyma) {}, want: true},
		"Defaults": {reason: "The API server adds defaults.", edit: func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModeApply }, want: true},
		"OwnModule": {reason: "The owner of a Kyma may add modules, before or after those of the template.", edit: func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules = append([]v1alpha1.Module{{Name: "0"}}, k.Spec.ForProvider.Modules...)
		}, want: true},
		"OwnField": {reason: "The owner of a Kyma may add fields to a module of the template.", edit: func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Drift = v1alpha1.DriftPolicyReport }, want: true},
		"OwnLabel": {reason: "The owner of a Kyma may add labels.", edit: func(k *v1alpha1.Kyma) { k.Labels["own"] = "x" }, want: true},
		"OwnValue": {reason: "The owner of a Kyma may add values.", edit: func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Values = raw(`{"replicas":2,"ratio":1,"list":[{"name":"x","v":1}],"own":1}`)
		}, want: true},
		"Channel": {reason: "The template decides the channel.", edit: func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Channel = "fast" }},
		"Value": {reason: "The template decides its values.", edit: func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Values = raw(`{"replicas":3,"ratio":1.0,"list":[{"name":"x","v":1}]}`)
		}},
		"ListLonger": {reason: "Lists in values are atomic, even if their items have names.", edit: func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.Modules[0].Values = raw(`{"replicas":2,"ratio":1.0,"list":[{"name":"x","v":1},{"name":"y"}]}`)
		}},
		"NoModule": {reason: "A module of the template is missing.", edit: func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = nil }},
		"NoLabel":  {reason: "A label of the template is missing.", edit: func(k *v1alpha1.Kyma) { delete(k.Labels, v1alpha1.LabelKymaSet) }},
		"Digest":   {reason: "A field left the template since it was applied.", edit: func(k *v1alpha1.Kyma) { k.Annotations[v1alpha1.AnnotationKymaSetDigest] = "other" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live, o := desired(t, newSet(withModule(values)))
			live = live.DeepCopy()
			live.ResourceVersion, live.Generation, live.Status.AtProvider.State = "1", 3, v1alpha1.StateReady
			tc.edit(live)
			got, err := IsApplied(live, o)
			if err != nil || got != tc.want {
				t.Errorf("%s\nIsApplied(...): want %t, got %t, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestDigest checks that the digest depends on the template and on the cluster only.
func TestDigest(t *testing.T) {
	digest := func(o Object) string { return o.GetAnnotations()[v1alpha1.AnnotationKymaSetDigest] }
	_, a := desired(t, newSet(withModule(`{"a":1}`)))
	_, again := desired(t, newSet(withModule(`{"a":1}`)))
	_, b := desired(t, newSet(withModule(`{"a":2}`)))
	if digest(a) != digest(again) || digest(a) == digest(b) || digest(a) == "" {
		t.Errorf("want equal digests of equal templates only, got %q, %q and %q", digest(a), digest(again), digest(b))
	}
}

func BenchmarkIsApplied(b *testing.B) {
	set, c := newSet(withModule(`{"a":"$(cluster.name)","b":[1,2,3]}`)), newCluster()
	live, err := DesiredKyma(set, c)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		k, err := DesiredKyma(set, c)
		if err != nil {
			b.Fatal(err)
		}
		o, err := Encode(k, v1alpha1.KymaGroupVersionKind)
		if err != nil {
			b.Fatal(err)
		}
		live.Annotations[v1alpha1.AnnotationKymaSetDigest] = o.GetAnnotations()[v1alpha1.AnnotationKymaSetDigest]
		if ok, err := IsApplied(live, o); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
