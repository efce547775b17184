// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// memoryShare of what the container may use is for the Go heap. The rest is for stacks, and for what is not Go's.
const memoryShare = 0.9

// limitMemory makes the garbage collector work harder before the container is killed, unless GOMEMLIMIT says how much there
// is. The options are for tests.
func limitMemory(log logging.Logger, options ...memlimit.Option) {
	limit, err := memlimit.Set(append([]memlimit.Option{memlimit.WithRatio(memoryShare)}, options...)...)
	if err != nil {
		log.Debug("There is no limit of memory to keep to", "error", err)
		return
	}
	log.Debug("Keeping to a limit of memory", "bytes", limit)
}
