// SPDX-License-Identifier: Apache-2.0

package confine

import "golang.org/x/sys/unix"

// Process confines this process. The system has neither seccomp nor Landlock, and its memory limits have no effect.
func Process(l Limits) State {
	startPoller()
	c := State{CPU: limitCPU(l.CPUSeconds)}
	limit(unix.RLIMIT_FSIZE, 0)
	limit(unix.RLIMIT_CORE, 0)
	c.Files = limit(unix.RLIMIT_NOFILE, 0)
	return c
}

// limit sets a resource limit that the process cannot raise again.
func limit(resource int, n uint64) bool {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}) == nil
}
