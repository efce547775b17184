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

// confirmCluster returns an error if the connection leads to a different cluster than at the beginning of the call. It sends one request,
// unless the cluster doesn't reveal its UID. Call it before a negative result is final: in a different cluster, everything is missing.
func (w *call) confirmCluster(ctx context.Context) error {
	if w.where.UID == "" {
		return nil
	}
	uid, err := w.c.ConfirmUID(ctx)
	if err != nil {
		return err
	}
	return inventory.Whereabouts{UID: uid, Expected: w.where.UID}.Check(w.e.messages)
}
