// SPDX-License-Identifier: Apache-2.0

// Package hook runs the hooks of Helm charts. The progress of one event is an inventory.Run: a value that is saved before a hook
// is created and before one is deleted, so that a process that dies at any point continues where it was.
//
// What to do next is decided by functions of values. A Runner asks them, sends what they decide to a Target, and returns when it
// has to wait. How far it came is a Standing: hooks are Due, Passed or Refused.
package hook
