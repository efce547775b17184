// SPDX-License-Identifier: Apache-2.0

// Package settings holds what users set by flags for the controllers of managed resources, and makes the options of the managed
// reconciler of crossplane-runtime from it.
package settings
