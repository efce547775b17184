// SPDX-License-Identifier: Apache-2.0

// Package settings contains the flags that users set for the controllers of managed resources, and converts them to options
// of the managed reconciler of crossplane-runtime. It also checks the management policies of a resource.
package settings
