// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// leastHeap is the divisor for the part of the container's memory that the Go runtime can use in any case: one quarter.
const leastHeap = 4

// gcPercent is the default of GOGC in a process with a memory limit. With that of Go, 100, the memory of a large fleet would always be near the
// limit, so that little is left when many clusters fail at the same time, and most CPU time would be used for garbage collection.
const gcPercent = 50

// heap returns the memory limit of the Go runtime in a container with a memory limit in bytes: 90 % of it, without the memory of the
// rendering processes, which belong to the same container. All other limits are parts of the result, and their sum is less than it:
// watched states, responses and inventories take at most a quarter each, and the other caches and waiting events take at most 448/2048.
func (b renderBudget) heap(limit int64) int64 {
	rendering := limit
	if n := int64(b.processes); n == 0 || b.memory <= limit/n {
		rendering = n * b.memory
	}
	return max(limit/10*9-rendering, limit/leastHeap)
}

// limitMemory sets the memory limit of the Go runtime in a container whose memory limit the provider returns, so that garbage is
// collected before the container is killed. GOMEMLIMIT takes precedence. Call it before caches are created.
func limitMemory(f *flags, provider memlimit.Provider, log logging.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(1), memlimit.WithProvider(func() (uint64, error) {
		n, err := provider()
		if err != nil {
			return 0, err
		}
		limit := int64(min(n, math.MaxInt64))                                              //nolint:gosec // See min.
		return uint64(budgetOf(f.renderProcesses, f.renderMemory, limit).heap(limit)), nil //nolint:gosec // It is positive.
	}))
	if err != nil {
		log.Debug("No memory limit is set", "error", err)
		return
	}
	log.Debug("Set the memory limit", "bytes", limit)
}

// limitGarbage makes garbage be collected earlier in a process with a memory limit. GOGC takes precedence.
func limitGarbage() {
	if debug.SetMemoryLimit(-1) < math.MaxInt64 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
