// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// memoryShare is the share of the container's memory limit that the Go runtime can use. The rest is for memory outside the
// runtime.
const memoryShare = 0.9

// limitMemory sets the memory limit of the Go runtime to memoryShare of the container's limit, so that garbage is collected
// before the container is killed. GOMEMLIMIT takes precedence. The options are for tests.
func limitMemory(log logging.Logger, options ...memlimit.Option) {
	limit, err := memlimit.Set(append([]memlimit.Option{memlimit.WithRatio(memoryShare)}, options...)...)
	if err != nil {
		log.Debug("No memory limit is set", "error", err)
		return
	}
	log.Debug("Set the memory limit", "bytes", limit)
}
