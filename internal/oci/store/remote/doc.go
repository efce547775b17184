// SPDX-License-Identifier: Apache-2.0

// Package remote reads and writes the artifacts of one repository of a registry.
//
// What may pass is tried again, and what was read is verified. Lists of what is
// attached to an artifact are kept as tags where the registry keeps none.
package remote
