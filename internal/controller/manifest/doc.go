// SPDX-License-Identifier: Apache-2.0

// Package manifest is the controller of Manifests: a thin external client between the managed reconciler and the engine in
// pkg/manifest. In a pass, a Manifest goes through these files:
//
//	setup.go         a watch, a change in its cluster (package requeue) or a poll (poll.go) queues it
//	waits.go         a pass over a Manifest whose cluster cannot be used ends here
//	connect.go       Connect loads its ProviderConfig, verifies its sources (verification.go), and gets its cluster
//	bundle.go        the bundle is built from its parameters, with values of Secrets and ConfigMaps (package values)
//	external.go      Observe takes the checkpoint that the last pass stored (checkpoint.go)
//	decide.go        the decider decides what to install: the bundle, or the snapshot (snapshot.go) of what was Ready last
//	external.go      Observe observes it; if the inventory has another checkpoint, the decider decides again
//	external.go      Create or Update applies it; Update observes the result
//	decide.go        the observation is evaluated: package rollback decides whether an upgrade has exceeded its time
//	report.go        the reporter sets status and conditions, and records events (events.go); no other file does
//	removal.go       Observe and Delete remove a Manifest that is being deleted, or abandon it (abandon.go)
//	plan.go          Observe plans a Manifest in mode Plan
package manifest
