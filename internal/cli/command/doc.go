// SPDX-License-Identifier: Apache-2.0

// Package command contains what the commands of kymactl have in common: the streams of the process, flags for registries and
// clusters, output formats, progress, and exit codes.
//
// Data goes to stdout, everything else to stderr.
package command
