// SPDX-License-Identifier: Apache-2.0

// Package report contains the results of the fleet benchmark as values: it derives the figures of a run from its phases, prints them,
// and compares them with budgets.
package report
