// SPDX-License-Identifier: Apache-2.0

// Package simulator runs the simulated API servers of a fleet as a process of their own, so that their memory and CPU time can be
// distinguished from those of the provider and of the benchmark. The process is the calling program with a different argument, and is
// controlled through a Unix socket.
package simulator
