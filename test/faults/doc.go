// SPDX-License-Identifier: Apache-2.0

// Package faults tests what clusters that do not work cost others: the provider as a process between two real API servers, and
// servers that hang, drop connections or refuse them.
//
// Specs with the label short compare counts only, so that they hold on any machine. The others compare times, and are for a machine
// that does nothing else.
package faults
