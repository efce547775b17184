// SPDX-License-Identifier: Apache-2.0

// Package maintenance decides when the upgrade of a module waits: for a maintenance window of its Kyma, or for the end of a deferral.
// All decisions are pure functions of the windows, the deferral and the current time. See docs/decisions/0081-windows-and-deferral.md.
package maintenance
