// SPDX-License-Identifier: Apache-2.0

// Command bench measures the provider with a fleet of clusters. It starts a real control plane, simulated API servers as a process of
// their own, and the provider, and plays phases: it creates Kymas, does nothing, edits, rolls out, rotates credentials, restarts and
// removes. docs/benchmarks.md describes the method and the result. It requires the /proc file system of Linux.
package main
