// SPDX-License-Identifier: Apache-2.0

// Package list is kymactl module list: the modules that there are, and those that
// are enabled.
package list
