// SPDX-License-Identifier: Apache-2.0

// Package shard divides work between the replicas of the provider. The work is divided into a fixed number of shards, and each
// shard is held by at most one replica. Manager keeps the Leases that record this, and Owner is what the rest of a replica uses: it
// starts work of the shards that the replica holds, ends it, and refuses writes of work whose shard was lost.
//
// Each replica has a Lease as a member, which it renews every two seconds. A Lease for each shard names the member that holds it,
// and is written only if the shard moves. A replica that sees that the Lease of another member was not renewed for some time deletes
// it. From then on this member can't renew it, and its shards are free. The other member has stopped its writes by itself some
// seconds earlier, because it also measures the time since its last renewal, by the monotonic and by the wall clock.
package shard
