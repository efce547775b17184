// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestBuiltin(t *testing.T) {
	cases := map[string]struct {
		reason            string
		kind              schema.GroupKind
		namespaced, known bool
	}{
		"Core":       {reason: "The core group has an empty name.", kind: schema.GroupKind{Kind: "Pod"}, namespaced: true, known: true},
		"Node":       {reason: "Some kinds of the core group are cluster-scoped.", kind: schema.GroupKind{Kind: "Node"}, known: true},
		"Dotted":     {reason: "The name of a built-in group can have dots.", kind: schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}, namespaced: true, known: true},
		"GatewayAPI": {reason: "A group that ends in k8s.io can belong to CRDs.", kind: schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}},
		"Snapshots":  {reason: "A CRD group can resemble a built-in one.", kind: schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}},
		"Custom":     {reason: "All other groups belong to CRDs.", kind: schema.GroupKind{Group: "example.org", Kind: "Widget"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			namespaced, known := BuiltinScope(tc.kind)
			if namespaced != tc.namespaced || known != tc.known {
				t.Errorf("%s BuiltinScope(%s): want %t, %t, got %t, %t", tc.reason, tc.kind, tc.namespaced, tc.known, namespaced, known)
			}
		})
	}
}
