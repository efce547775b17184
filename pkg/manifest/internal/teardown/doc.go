// SPDX-License-Identifier: Apache-2.0

// Package teardown removes members of a bundle from a cluster: all of them, or those that the bundle no longer contains. Decide
// determines what happens to one member, and Plan determines the order; both are pure. Run does as much as possible without
// waiting, and returns what it did as a value. Call it again until the result no longer waits. Preview predicts for a plan which
// objects Run would delete, based on the same decisions.
package teardown
