// SPDX-License-Identifier: Apache-2.0

// Package faults tests what clusters and tenants that misbehave cost others: the provider as a process between two real API servers,
// and servers that hang, drop packets, refuse connections or are slow.
//
// Specs with the label short compare counts only, so that they hold on any machine, and run in make test. The others compare times,
// and are for a machine that does nothing else.
package faults
