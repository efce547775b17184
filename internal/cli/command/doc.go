// SPDX-License-Identifier: Apache-2.0

// Package command holds what the commands of kymactl have in common: the
// streams of the process, flags for registries and clusters, formats of output,
// progress, and exit codes.
//
// Data goes to stdout, everything else to stderr.
package command
