// SPDX-License-Identifier: Apache-2.0

// Package integration tests the provider as its users meet it: as a process between
// a control plane and a target cluster that are both real. All specs share these.
// Each spec works in its own two namespaces, one in each cluster, and leaves
// nothing behind.
package integration
