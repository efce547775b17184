// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// An Origin identifies the control plane of Manifests, as recorded in their inventories.
type Origin struct {
	// ControlPlane contains UIDs of this control plane. Predecessors contains UIDs of the control planes that it replaces.
	ControlPlane, Predecessors []string
}

// Of returns the origin for a Manifest. A Manifest that is being deleted, or that belongs to a Kyma that doesn't exist, has no
// predecessors: after a restore, Kubernetes deletes Manifests whose owner has another UID than before, and the provider would remove
// what the former control plane installed. The Kyma recreates such a Manifest, which then takes over.
func (o Origin) Of(ctx context.Context, kymas client.Reader, mr *v1alpha1.Manifest) Origin {
	if len(o.Predecessors) > 0 && (meta.WasDeleted(mr) || isOrphaned(ctx, kymas, mr)) {
		o.Predecessors = nil
	}
	return o
}

// isOrphaned reports whether the Kyma that a Manifest belongs to doesn't exist, or cannot be read.
func isOrphaned(ctx context.Context, kymas client.Reader, mr *v1alpha1.Manifest) bool {
	owner := metav1.GetControllerOf(mr)
	if owner == nil || owner.Kind != v1alpha1.KymaKind {
		return false
	}
	k := &v1alpha1.Kyma{}
	return kymas.Get(ctx, types.NamespacedName{Namespace: mr.Namespace, Name: owner.Name}, k) != nil || k.UID != owner.UID
}

// Mark adds the origin to a bundle, and returns it.
func (o Origin) Mark(b *manifest.Bundle) *manifest.Bundle {
	if b != nil {
		b.ControlPlane, b.Predecessors = o.ControlPlane, o.Predecessors
	}
	return b
}
