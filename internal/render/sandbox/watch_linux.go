// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sys/unix"
)

// memoryOf returns the private memory of a process in bytes, or 0 if it is unknown. It is called often, so it allocates almost
// nothing.
func memoryOf(pid int) int64 {
	var buffer [128]byte
	name := append(strconv.AppendInt(append(buffer[:0], "/proc/"...), int64(pid), 10), "/statm"...)
	fd, err := syscall.Open(string(name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	n, err := syscall.Read(fd, buffer[:])
	_ = syscall.Close(fd)
	if err != nil {
		return 0
	}
	const resident, shared = 1, 2
	var pages [shared + 1]int64
	field := 0
	for _, c := range buffer[:n] {
		switch {
		case c >= '0' && c <= '9':
			pages[field] = 10*pages[field] + int64(c-'0')
		case field == shared:
			return (pages[resident] - pages[shared]) * int64(os.Getpagesize())
		default:
			field++
		}
	}
	return 0
}

// cpuTimeOf returns the CPU time that a process has used, or 0 if it is unknown.
func cpuTimeOf(pid int) time.Duration {
	// The clock of a process has no constant; clock_getcpuclockid(3) computes it in this way.
	const bits, scheduler = 3, 2
	var used unix.Timespec
	if unix.ClockGettime(int32(^pid<<bits|scheduler), &used) != nil { //nolint:gosec // A pid has 22 bits at most.
		return 0
	}
	return time.Duration(used.Nano())
}

// useIdleCPUs lets all threads of a process run only while a CPU would otherwise be idle. New threads inherit that. If the system does
// not permit it, the threads keep their priority.
func useIdleCPUs(pid int) {
	idle := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	// A thread that has not been found yet can start another one meanwhile.
	const passes = 3
	for range passes {
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return // The process has ended.
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return
			}
			if err := unix.SchedSetAttr(id, idle, 0); err != nil && !errors.Is(err, unix.ESRCH) {
				return
			}
		}
	}
}
