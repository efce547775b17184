// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package confine

import "golang.org/x/sys/unix"

// limitCPU limits the CPU time of this process. It gets SIGXCPU then, and is killed a second later.
func limitCPU(seconds uint64) bool {
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + 1}) == nil
}
