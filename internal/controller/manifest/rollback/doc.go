// SPDX-License-Identifier: Apache-2.0

// Package rollback decides when an upgrade that does not work is rolled back. It is a state machine over values: it has no
// clock, no client and no engine, and all that it remembers is a RollbackStatus, so a new process continues where the last
// one stopped.
//
//	          another digest is desired           the deadline passes
//	None ------------------------------> Watching ------------------> RolledBack
//	  ^                                   |    ^                          |
//	  |   it becomes Ready, or nothing    |    |  another digest or a new |
//	  +--- is left to go back to ---------+    +-- request is desired ----+
//
// Decide determines what to install before anything is observed. Evaluate evaluates the observation of an upgrade that is
// being watched. The caller writes the status before it acts on the state RolledBack.
package rollback
