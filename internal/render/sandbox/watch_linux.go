// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"strconv"
	"syscall"
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
