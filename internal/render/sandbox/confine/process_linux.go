// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// dataReserve is the memory that a process needs in addition to its limit: the data of the binary, stacks, and memory that
	// the Go runtime reserves.
	dataReserve = 192 << 20
	// fullScore makes the kernel choose the process first when the machine has no memory left.
	fullScore = "1000"
	scoreFile = "/proc/self/oom_score_adj"
)

// Process confines this process. It needs no privileges, and uses what the machine supports.
func Process(l Limits) State {
	_ = os.WriteFile(scoreFile, []byte(fullScore), 0) // Not all machines have this file.
	startPoller()
	c := State{Landlock: denyPaths()}
	c.CPU = limitCPU(l.CPUSeconds)
	c.Memory = !Race && limit(unix.RLIMIT_DATA, uint64(l.Memory)+dataReserve) //nolint:gosec // It is positive.
	limit(unix.RLIMIT_FSIZE, 0)
	limit(unix.RLIMIT_CORE, 0)
	c.Files = limit(unix.RLIMIT_NOFILE, 0)
	c.Seccomp = filterCalls()
	return c
}

// limit sets a resource limit that the process cannot raise again.
func limit(resource int, n uint64) bool {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}) == nil
}

// denyPaths uses Landlock to deny all threads access to any path. It opens a file, so call it before the limit of open files is
// set.
func denyPaths() bool {
	attr, ok := landlockRules()
	if !ok {
		return false
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // The kernel reads it.
	if errno != 0 {
		return false
	}
	defer func() { _ = unix.Close(int(fd)) }()
	return onAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0) && onAllThreads(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
}

// onAllThreads makes a system call in each thread of the process. It does not work in a binary with C code.
func onAllThreads(call, a, b, c uintptr) bool {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, c, 0, 0, 0)
	return errno == 0
}
