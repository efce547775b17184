// SPDX-License-Identifier: Apache-2.0

// Package readyourwrites has a client that reads from a cache, and never reads a state from before its own last write. A managed
// resource is reconciled again at once after a write, as after Create. With an old state, that reconcile would end in a
// conflict, and the next one would begin after the delay of a failure.
package readyourwrites
