// SPDX-License-Identifier: Apache-2.0

// Package usage runs the provider as a process of its own and measures what it uses: requests, CPU time, memory, goroutines and the
// time of reconciles. It requires the /proc file system of Linux.
package usage
