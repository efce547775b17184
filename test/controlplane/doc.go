// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts and stops real Kubernetes control planes, OCI
// registries and chart repositories on the loopback interface, for the demo, the
// integration and end-to-end tests and the benchmarks.
//
// Servers are processes of binaries that cluster/tools builds. Each has its own data directory, log and free port, so any
// number of clusters run in parallel. No server outlives the process that started it: not after Stop, a panic, Ctrl-C or
// (on Linux) SIGKILL.
package controlplane
