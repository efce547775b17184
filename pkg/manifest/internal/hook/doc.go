// SPDX-License-Identifier: Apache-2.0

// Package hook runs the hooks of Helm charts. The progress of one event, for example pre-upgrade, is an inventory.Run. It is
// saved before a hook is created and before one is deleted, so a process that restarts at any point continues where the previous
// one stopped.
//
// Pure functions decide the next action. A Sequence calls them, sends each action to a Target, and returns when it must wait. A
// Standing reports the progress: the hooks of an event are Due, Passed or Refused. An Attempt runs the hooks of an install,
// upgrade or rollback, RemovalHooks runs the hooks of an uninstall, and a Tester runs the tests of helm test.
package hook
