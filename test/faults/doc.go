// SPDX-License-Identifier: Apache-2.0

// Package faults tests how clusters and tenants that misbehave affect others. It runs the provider as a process between two
// real API servers, and uses servers that hang, drop packets, refuse connections or are slow, and charts, kubeconfigs and clusters
// that attack the provider.
//
// Specs with the label short only compare counts and memory, so they work on any machine, and run in make test. All other specs compare
// times, and need a machine that runs nothing else.
package faults
