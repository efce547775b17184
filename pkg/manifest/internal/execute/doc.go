// SPDX-License-Identifier: Apache-2.0

// Package execute carries out a plan. Run performs the next step in a cluster. DryRun executes the same plan with an applier
// that changes nothing, and returns a Plan of the changes.
//
// Only this package changes a progress, which contains the state of a call. The interfaces that run hooks, record releases, prune
// and test get values and lookup functions, and return values.
//
// Run saves the inventory before it sends anything. Then it applies the objects stage by stage, runs hooks between the stages,
// finishes the components that are complete, prunes, and saves the inventory again. It does not block: the next call does
// whatever has to wait. A process may end at any request; the next plan starts from the state of the inventory and the cluster.
package execute
