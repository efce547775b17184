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

// confirm returns an error if the connection leads to a different cluster than at the beginning of a call. It sends one request, unless
// the cluster doesn't reveal its UID. Call it before a negative result is final: in a different cluster, everything is missing.
func confirm(ctx context.Context, c cluster.Cluster, began inventory.Whereabouts, m Messages) error {
	if began.UID == "" {
		return nil
	}
	uid, err := c.ConfirmUID(ctx)
	if err != nil {
		return err
	}
	return inventory.Whereabouts{UID: uid, Expected: began.UID}.Check(m)
}
