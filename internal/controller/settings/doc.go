// SPDX-License-Identifier: Apache-2.0

// Package settings contains the flags that users set for the controllers of managed resources, and converts them to options
// of the managed reconciler of crossplane-runtime.
package settings
