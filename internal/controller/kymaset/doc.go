// SPDX-License-Identifier: Apache-2.0

// Package kymaset is the controller of KymaSets. Its queue has two types of requests: a KymaSet, without a namespace, and a cluster, by
// the namespace and the name that its ProviderConfig, its Kyma and its Cluster of Cluster API share. A change of a KymaSet queues all
// of its clusters with low priority, and a change of a cluster queues only the cluster, so that its cost does not depend on the fleet.
// Only the reconcile of a cluster writes or removes its objects, so there is one writer for each of them. It compares them with the
// cache, and writes what differs. Before it removes anything, it confirms with the API server that the cluster is no longer selected.
// The outcomes are counted in memory, and written to the status of the KymaSet at most once in a second.
package kymaset
