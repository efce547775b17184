// SPDX-License-Identifier: Apache-2.0

// Package create implements kymactl module init and create, which turn the content
// of a directory into a module in a layout.
package create
