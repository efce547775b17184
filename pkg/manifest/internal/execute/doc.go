// SPDX-License-Identifier: Apache-2.0

// Package execute carries a plan out: Run does the next step in a cluster, and DryRun goes through the same plan with an applier
// that changes nothing, and returns a Forecast of what would be done.
//
// A progress has what changes on the way, and only this package writes it: those that run hooks, record releases, prune and test get
// values and questions, and return values. Run saves the inventory before it sends anything, applies the objects stage by stage, runs
// hooks between the stages, finishes the components that are complete, prunes, and saves the inventory again. It waits for nothing:
// what has to wait is left to the next call. A process may end at any request; the next plan begins with what the inventory and the
// cluster say.
package execute
