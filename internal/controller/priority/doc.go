// SPDX-License-Identifier: Apache-2.0

// Package priority decides which reconciles wait for others. A template, a config or a poll concerns many resources, which
// are queued with low priority, so that the edits of users are reconciled first. A Tracker remembers why a Manifest was
// written. A restart loses this, which is harmless: everything is queued with low priority then.
package priority
