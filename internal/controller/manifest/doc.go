// SPDX-License-Identifier: Apache-2.0

// Package manifest is the controller of Manifests: a thin external client between the managed reconciler and the engine in
// pkg/manifest. This is the way of one Manifest through a pass:
//
//	setup.go         a watch, a change in its cluster (requeue.go) or a poll (poll.go) queues it
//	connect.go       Connect loads its ProviderConfig, verifies its sources (verification.go), and gets its cluster
//	bundle.go        the bundle is made of its parameters, with values of Secrets and ConfigMaps (package values)
//	external.go      Observe takes the checkpoint that the last pass remembered (checkpoint.go)
//	decide.go        the decider decides what to install: the bundle, or the snapshot (snapshot.go) of what was Ready last
//	external.go      Observe observes that; if the inventory has another checkpoint, it decides once more
//	external.go      Create or Update applies it; Update observes the result
//	decide.go        the observation is evaluated: package rollback says whether the time of an upgrade is over
//	report.go        the reporter sets status and conditions, and records events (events.go); no other file does
//	removal.go       a Manifest that is being deleted takes this way instead, and may be abandoned (abandon.go) at its end
//	plan.go          and this one, if it is only planned
package manifest
