// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// leastHeap is the divisor for the part of the container's memory that the Go runtime can use in any case: one quarter.
const leastHeap = 4

// gcPercent is the default of GOGC in a process with a memory limit. With that of Go, 100, the memory of a large fleet would always be near the
// limit, so that little is left when many clusters fail at the same time, and most CPU time would be used for garbage collection.
const gcPercent = 50

// heap returns the memory limit of the Go runtime in a container with a memory limit in bytes: 90 % of it, without the memory of the
// rendering processes, which belong to the same container. All other limits are parts of the result, and their sum is less than it:
// responses take at most a quarter, watched states and inventories three sixteenths each, archives an eighth, and the other caches and
// waiting events 448/2048.
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

const (
	// archiveShare is the divisor for the part of the memory limit of the process that all archives can use together, which is at most
	// mostArchives bytes.
	archiveShare, mostArchives = 8, 1 << 30

	// By default, a packed archive can use a quarter of this part, and its content half of it. A single archive can use both.
	packedShare, unpackedShare = 4, 2
	mostPacked, mostUnpacked   = 64 << 20, 512 << 20
)

// archiveLimits returns the limits of archives, and of all of them together, in a process with the current memory limit. It keeps what
// flags set.
func archiveLimits(l archive.Limits, log logging.Logger) archive.Limits {
	share := min(debug.SetMemoryLimit(-1)/archiveShare, mostArchives)
	if l.Compressed <= 0 {
		l.Compressed = min(share/packedShare, mostPacked)
	}
	if l.Uncompressed <= 0 {
		l.Uncompressed = min(share/unpackedShare, mostUnpacked)
	}
	all := max(share, packedShare*min(l.Compressed, math.MaxInt64/packedShare), unpackedShare*min(l.Uncompressed, math.MaxInt64/unpackedShare))
	if all > share {
		log.Info("Warning: archives can use more than an eighth of the memory limit of the provider process, and it can run out of memory; "+
			"increase the limit, or decrease --max-archive-size or --max-unpacked-size", "bytes", all, "share", share)
	}
	l.Archives = decoding.NewArchives(all)
	return l
}
