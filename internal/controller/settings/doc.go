// SPDX-License-Identifier: Apache-2.0

// Package settings holds what the controllers of managed resources have in common: what users set by flags, and how the
// managed reconciler of crossplane-runtime is set up.
package settings
