// SPDX-License-Identifier: Apache-2.0

package naming

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest"

// An Origin identifies the control plane of Manifests, as recorded in their inventories.
type Origin struct {
	// ControlPlane contains UIDs of this control plane. Predecessors contains UIDs of the control planes that it replaces.
	ControlPlane, Predecessors []string
}

// Mark adds the origin to a bundle, and returns it.
func (o Origin) Mark(b *manifest.Bundle) *manifest.Bundle {
	if b != nil {
		b.ControlPlane, b.Predecessors = o.ControlPlane, o.Predecessors
	}
	return b
}
