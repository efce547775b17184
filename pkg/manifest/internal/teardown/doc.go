// SPDX-License-Identifier: Apache-2.0

// Package teardown removes members of a bundle from a cluster: all of them, or those that the bundle no longer wants. Decide says
// what becomes of one member, and Plan in which order the members go; both are pure. Run does as much as it can without waiting,
// and returns what it did as a value: the caller calls it again until nothing is waited for. Foresee says for a plan what Run would
// delete, by the same decisions.
package teardown
