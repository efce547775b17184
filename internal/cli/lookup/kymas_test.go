// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestComposer(t *testing.T) {
	yes := true
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{
		Labels:          map[string]string{labelComposite: "x", labelClaimName: "c", labelClaimNamespace: "ns"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "XKyma", Name: "x", Controller: &yes}},
	}}
	if diff := cmp.Diff("XKyma x (claim ns/c)", Composer(k)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("", Composer(&v1alpha1.Kyma{})); diff != "" {
		t.Errorf("a Kyma of its own: -want, +got:\n%s", diff)
	}
}
