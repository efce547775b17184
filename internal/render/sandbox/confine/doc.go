// SPDX-License-Identifier: Apache-2.0

// Package confine removes everything from a process that it does not need for a computation: files, the network, other
// processes, and unlimited CPU time and memory. It needs no privileges, and uses what the machine supports.
package confine

// Limits are the limits of a process.
type Limits struct {
	CPUSeconds uint64 // CPU time
	Memory     int64  // bytes that the process may use, beside what the Go runtime keeps for itself
}
