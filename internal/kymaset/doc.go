// SPDX-License-Identifier: Apache-2.0

// Package kymaset decides what a KymaSet wants for a cluster: whether it selects the cluster, the Kyma and the ProviderConfig of the
// cluster, which of several KymaSets manages them, and whether the live objects are as desired. All functions are pure. A Tally counts
// the outcomes, so that the status of a KymaSet costs nothing that grows with the fleet.
package kymaset
