// SPDX-License-Identifier: Apache-2.0

// Package manifest is the controller of Manifests: a thin external client between the managed reconciler and the engine in
// pkg/manifest. This is the way of one Manifest through a pass:
//
//	setup.go         a watch, a change in its cluster (requeue.go) or a poll (poll.go) queues it
//	connect.go       Connect loads its ProviderConfig, verifies its sources (verification.go), and gets its cluster
//	bundle.go        the bundle is made of its parameters, with values of Secrets and ConfigMaps (package values)
//	external.go      Observe asks what to install,
//	decide.go        which the decider answers from the status: the bundle, or the snapshot (snapshot.go) of what was Ready last,
//	external.go      observes that once,
//	decide.go        and evaluates what it sees: package rollback says whether the time of an upgrade is over
//	report.go        the reporter sets status and conditions, and records events (events.go); no other file does
//	external.go      Create or Update apply the choice; Update observes, evaluates and reports once more
//	removal.go       a Manifest that is being deleted takes this way instead, and may be abandoned (abandon.go) at its end
//	plan.go          and this one, if it is only planned
package manifest
