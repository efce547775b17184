// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestSnapshot(t *testing.T) {
	mr := named("n", "m", func(m *v1alpha1.Manifest) {
		m.Spec.ForProvider = v1alpha1.ManifestParameters{
			Version: "1", Drift: v1alpha1.DriftPolicyReport, Mode: v1alpha1.ModePlan, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRecreate, Adoption: v1alpha1.AdoptionPolicyAdopt, Rollback: &v1alpha1.Rollback{},
			Resource: &runtime.RawExtension{Raw: []byte(`{"b":9007199254740993,"a":1}`)},
			Installs: []v1alpha1.Install{{Name: "a", ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}}}},
		}
	})
	bundle := &manifest.Bundle{Installs: []manifest.Install{{Values: map[string]any{"password": "secret"}}}}
	one, err := snapshotOf(mr, bundle, []any{"secret"})
	if err != nil {
		t.Fatal(err)
	}
	mr.Spec.ForProvider.Resource.Raw = []byte(`{"a":1,"b":9007199254740993}`)
	two, err := snapshotOf(mr, bundle, []any{"secret"})
	if err != nil || one.digest != two.digest || !cmp.Equal(one.data, two.data) {
		t.Errorf("snapshotOf(...): equal contents have equal snapshots: %v", err)
	}
	read := readSnapshot(one.data)
	if read == nil || read.digest != one.digest || cmp.Diff([]any{"secret"}, read.Secrets) != "" {
		t.Fatalf("readSnapshot(...): %+v", read)
	}
	if q := read.Parameters; q.Drift != "" || q.Mode != "" || q.ImmutableFields != "" || q.Adoption != "" || q.Rollback != nil {
		t.Errorf("snapshotOf(...): how to install is not part of it: %+v", q)
	}
	p := read.restored(mr).Spec.ForProvider
	if string(p.Installs[0].Values.Raw) != `{"password":"secret"}` || p.Installs[0].ValuesFrom != nil || p.Adoption != v1alpha1.AdoptionPolicyAdopt || p.Drift != v1alpha1.DriftPolicyReport ||
		p.Mode != v1alpha1.ModePlan || p.ImmutableFields != v1alpha1.ImmutableFieldsPolicyRecreate {
		t.Errorf("restored(...): %+v", p)
	}
	bundle.Installs[0].Values["password"] = "other"
	if other, err := snapshotOf(mr, bundle, nil); err != nil || other.digest == one.digest {
		t.Errorf("snapshotOf(...): another value is another snapshot: %v", err)
	}
	for _, bad := range [][]byte{nil, []byte("x"), one.data[:20]} {
		if readSnapshot(bad) != nil {
			t.Errorf("readSnapshot(%q): what cannot be read is none", bad)
		}
	}
}
