// SPDX-License-Identifier: Apache-2.0

// Package module implements kymactl module, with a package for each group of its
// commands. Commands that build, sign and distribute modules need no cluster; list,
// enable and disable need a control plane.
package module
