// SPDX-License-Identifier: Apache-2.0

// Package apply brings one object of a target cluster to its desired state, and returns what that took as an Outcome.
//
// There is one way through it, Applier.Apply, and two sets of verbs: those that write, and those of a dry run. Whether an
// object may be changed, which of its fields are ceded, and whether it has to be recreated is decided once for both.
package apply
