// SPDX-License-Identifier: Apache-2.0

// Package catalog has the commands that work on the modules of a control plane:
// what there is, what is enabled, and what became of it.
package catalog
