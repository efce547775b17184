// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// memoryOf returns the private memory of a process in bytes, or 0 if it is unknown.
func memoryOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	const resident, shared = 1, 2
	if err != nil || len(fields) <= shared {
		return 0
	}
	all, err := strconv.ParseInt(string(fields[resident]), 10, 64)
	if err != nil {
		return 0
	}
	others, err := strconv.ParseInt(string(fields[shared]), 10, 64)
	if err != nil {
		return 0
	}
	return (all - others) * int64(os.Getpagesize())
}
