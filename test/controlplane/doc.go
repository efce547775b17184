// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts and stops real Kubernetes control planes, OCI
// registries and chart repositories on the loopback interface, for the demo, the
// integration and end-to-end tests and the benchmarks.
//
// Servers are processes built by cluster/tools. Each has its own data directory,
// log and free port, any number of clusters run side by side, and nothing
// outlives the process that started them: not after Stop, a panic, Ctrl-C or (on
// Linux) a kill that no one can catch.
package controlplane
