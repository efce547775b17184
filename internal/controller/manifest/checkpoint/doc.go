// SPDX-License-Identifier: Apache-2.0

// Package checkpoint contains what a Manifest is rolled back to: snapshots of its content, which are stored in the inventory in the
// target cluster, and the memory of what the inventory contains between two passes.
package checkpoint
