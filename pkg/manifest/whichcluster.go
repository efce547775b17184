// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// whereabouts returns the cluster of a connection, and the cluster that the bundle is intended for.
func whereabouts(ctx context.Context, c cluster.Cluster, b *Bundle) (inventory.Whereabouts, error) {
	uid, err := c.UID(ctx)
	return inventory.Whereabouts{UID: uid, Expected: b.ClusterUID, MoveTo: b.NewClusterUID}, err
}
