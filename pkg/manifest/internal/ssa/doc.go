// SPDX-License-Identifier: Apache-2.0

// Package ssa sends the requests of the engine to a cluster, most of all server-side apply. Nothing else in the engine does.
// It is where it is decided what "not found" means, and how errors of an API server read: see Client.Absent and Explain. It keeps the
// Cache of the cluster up to date with what it writes.
package ssa
