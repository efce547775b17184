// SPDX-License-Identifier: Apache-2.0

// Package readyourwrites provides a client that reads from a cache, and never reads a state older than its own last write.
// After a write, a managed resource is reconciled again at once, as after Create. With an old state, that reconcile would end
// in a conflict, and the next one would begin after the delay of a failure.
package readyourwrites
