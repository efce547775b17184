// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package confine

import (
	"os"

	"golang.org/x/sys/unix"
)

// startPoller makes the Go runtime open the files of its poller, which the first timer or pipe needs. Call it before the limit of
// open files is set: the runtime ends a process that can't open them.
func startPoller() {
	if r, w, err := os.Pipe(); err == nil {
		_, _ = r.Close(), w.Close()
	}
}

// limitCPU limits the CPU time of this process. The process gets SIGXCPU then, and is killed a second later.
func limitCPU(seconds uint64) bool {
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + 1}) == nil
}
