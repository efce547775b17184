// SPDX-License-Identifier: Apache-2.0

// Package module is kymactl module, with a package for each group of its
// commands. Those that make, sign and ship modules need no cluster; list and enable
// need a control plane.
package module
