// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestPredecessors checks which Manifests take over the inventories of a former control plane.
func TestPredecessors(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	kymas := fake.NewClientBuilder().WithScheme(s).WithObjects(
		&v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "kyma", UID: "new"}}).Build()
	manifest := func(edit func(*metav1.ObjectMeta)) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m"}}
		edit(&m.ObjectMeta)
		return m
	}
	controlledBy := func(kind, name string, uid types.UID) *v1alpha1.Manifest {
		yes := true
		return manifest(func(m *metav1.ObjectMeta) {
			m.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, UID: uid, Controller: &yes}}
		})
	}
	all := []string{"before"}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   []string
	}{
		"Own":       {reason: "A Manifest that a user created takes over.", mr: manifest(func(*metav1.ObjectMeta) {}), want: all},
		"OfKyma":    {reason: "A Manifest that its Kyma created takes over.", mr: controlledBy(v1alpha1.KymaKind, "kyma", "new"), want: all},
		"OtherKind": {reason: "Owners of other kinds can't be read.", mr: controlledBy("XEnvironment", "x", "old"), want: all},
		"Restored":  {reason: "Kubernetes deletes a Manifest whose Kyma had another UID.", mr: controlledBy(v1alpha1.KymaKind, "kyma", "old")},
		"Missing":   {reason: "Kubernetes deletes a Manifest whose Kyma doesn't exist.", mr: controlledBy(v1alpha1.KymaKind, "none", "new")},
		"Deleted": {
			reason: "A Manifest that is being deleted doesn't remove a module that it has not taken over.",
			mr: manifest(func(m *metav1.ObjectMeta) {
				now := metav1.Now()
				m.DeletionTimestamp = &now
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Origin{ControlPlane: []string{"here"}, Predecessors: all}
			want := Origin{ControlPlane: []string{"here"}, Predecessors: tc.want}
			if diff := cmp.Diff(want, o.Of(t.Context(), kymas, tc.mr)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
