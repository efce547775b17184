// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import "time"

// memoryOf returns 0, because the memory of another process is unknown.
func memoryOf(int) int64 { return 0 }

// cpuTimeOf returns 0, because the CPU time of another process is unknown.
func cpuTimeOf(int) time.Duration { return 0 }

func useIdleCPUs(int) {}
