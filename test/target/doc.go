// SPDX-License-Identifier: Apache-2.0

// Package target tests internal/target against a real API server: the table of built-in kinds, the watches, what is seen
// of a kind that comes and goes, and a server that is denied, frozen, stopped and started again.
package target
