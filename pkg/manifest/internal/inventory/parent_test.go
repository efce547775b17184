// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestParentSecret(t *testing.T) {
	p := Parent{Ref: cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "web"}, Set: "applyset-x-v1", Owner: "Manifest team-a/web", ManagedBy: "engine"}
	secret := func(annotations map[string]string, data map[string][]byte) *corev1.Secret {
		annotations["applyset.kubernetes.io/tooling"] = "engine/v1"
		return &corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "kyma-system", Name: "web", Annotations: annotations,
				Labels: map[string]string{"applyset.kubernetes.io/id": "applyset-x-v1", "operator.kyma-project.io/managed-by": "engine"},
			},
			Data: data,
		}
	}
	cases := map[string]struct {
		reason string
		parent Parent
		inv    Inventory
		want   *corev1.Secret
	}{
		"Empty": {
			reason: "An inventory without members and without an owner.", parent: Parent{Ref: p.Ref, Set: p.Set, ManagedBy: p.ManagedBy},
			want: secret(map[string]string{"applyset.kubernetes.io/contains-group-kinds": "", "kyma.m.crossplane.io/owner": ""}, map[string][]byte{Key: []byte("data")}),
		},
		"Members": {
			reason: "The annotations name the kinds and the other namespaces of the members.", parent: p,
			inv: Inventory{Checkpoint: []byte("good"), Objects: []Entry{
				{Version: "v1", Kind: "ConfigMap", Namespace: "kyma-system", Name: "a"}, {Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "web", Name: "b"},
			}},
			want: secret(map[string]string{
				"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps", "applyset.kubernetes.io/additional-namespaces": "web",
				"kyma.m.crossplane.io/owner": "Manifest team-a/web",
			}, map[string][]byte{Key: []byte("data"), "good": []byte("good")}),
		},
		"Origin": {
			reason: "The annotations identify the owner, and its control plane.",
			parent: Parent{Ref: p.Ref, Set: p.Set, Owner: p.Owner, ManagedBy: p.ManagedBy, Origin: Origin{UID: "1", ControlPlane: []string{"a", "b"}}},
			want: secret(map[string]string{
				"applyset.kubernetes.io/contains-group-kinds": "", "kyma.m.crossplane.io/owner": "Manifest team-a/web",
				"kyma.m.crossplane.io/owner-uid": "1", "kyma.m.crossplane.io/control-plane": "a,b",
			}, map[string][]byte{Key: []byte("data")}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.parent.Secret(&tc.inv, []byte("data"))); diff != "" {
				t.Errorf("\n%s\nSecret(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
