// SPDX-License-Identifier: Apache-2.0

// Package integration tests the provider as its users meet it: as a process of
// its own, between a control plane and a target cluster that are both real. All
// specs share these; each works in two namespaces of its own, one in each
// cluster, and leaves nothing behind.
package integration
