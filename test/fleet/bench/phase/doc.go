// SPDX-License-Identifier: Apache-2.0

// Package phase plays the phases of the fleet benchmark, one after another, and measures each of them. All returns the list: a new phase
// is a function and an entry there.
package phase
