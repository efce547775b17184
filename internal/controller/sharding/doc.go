// SPDX-License-Identifier: Apache-2.0

// Package sharding limits controllers to the objects of the shards that this replica holds. Kymas and Manifests belong to the shard of
// their ProviderConfig, and a ProviderConfig to the shard of its name or of its label. All other objects belong to shard 0.
package sharding
