// SPDX-License-Identifier: Apache-2.0

// Package target tests internal/target against a real API server: the table of built-in kinds, the watches, kinds that appear
// and disappear, and a server that denies access, freezes, stops and restarts.
package target
