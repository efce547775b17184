// SPDX-License-Identifier: Apache-2.0

// Package priority decides which reconciles wait for others, by their cause: what a user has changed comes before first installs, changes
// in clusters, rollouts, and polls, in this order. An eighth of all reconciles goes to what waits longest, whatever its cause is, so
// that nothing waits forever. A Tracker remembers why a Manifest was written. A restart loses this, which is harmless: everything is
// queued with the lowest priority then.
package priority
