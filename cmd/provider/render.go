// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

// spareRenderers is the number of processes that are kept ready for rendering.
const spareRenderers = 2

const (
	// automatic is the value of --render-processes and --render-memory if they are not set.
	automatic = math.MinInt

	// Bounds of the values that are derived from the memory limit of the container.
	fewestRenderers, mostRenderers       = 2, 4
	leastRender, usualRender, mostRender = 64 << 20, 256 << 20, 512 << 20
)

// renderShare returns the part of a container's memory that all renderings together can use: three eighths.
func renderShare(limit int64) int64 { return limit / 8 * 3 }

// A renderBudget is the number of charts that are rendered concurrently, and the memory that each of them can use.
type renderBudget struct {
	processes int
	memory    int64
}

// budgetOf returns the budget in a container with a memory limit in bytes, or 0 if there is no limit. It keeps values that are
// set, and derives automatic values so that all renderings together take at most renderShare.
func budgetOf(processes int, memory, limit int64) renderBudget {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	share := renderShare(limit)
	b := renderBudget{processes: processes, memory: memory}
	if processes == automatic {
		each := int64(usualRender)
		if memory > 0 {
			each = memory
		}
		b.processes = int(min(max(share/each, fewestRenderers), mostRenderers))
	}
	if memory == automatic {
		b.memory = min(max(share/int64(max(b.processes, 1)), leastRender), mostRender)
	}
	return b
}

// excess returns the reason why the budget does not fit into a container with a memory limit in bytes, or "" if it fits.
func (b renderBudget) excess(limit int64) string {
	if limit <= 0 || b.processes == 0 || b.memory <= renderShare(limit)/int64(b.processes) {
		return ""
	}
	return fmt.Sprintf("%d rendering processes with %d bytes each can use more than three eighths of the memory limit of the "+
		"container (%d bytes), and the provider can run out of memory; increase the limit, or decrease --render-processes or --render-memory",
		b.processes, b.memory, limit)
}

// containerMemory returns the memory limit of the container in bytes, or 0 if there is no limit.
func containerMemory(provider memlimit.Provider) int64 {
	n, err := provider()
	if err != nil || n > math.MaxInt64 {
		return 0
	}
	return int64(n)
}

// rendering returns the options of an engine that renders in child processes, and a function that ends them. observe is called with the
// duration of each rendering.
func rendering(f *flags, observe func(time.Duration), log logging.Logger) ([]manifest.Option, func(), error) {
	if f.renderProcesses == 0 {
		log.Info("Rendering charts in the provider process, where they can block it or exhaust its memory", "flag", "--render-processes")
		return nil, func() {}, nil
	}
	limit := containerMemory(memlimit.FromCgroup)
	b := budgetOf(f.renderProcesses, f.renderMemory, limit)
	if why := b.excess(limit); why != "" {
		log.Info("Warning: " + why)
	}
	pool, err := sandbox.New(sandbox.Options{
		Limits:    sandbox.Limits{CPU: f.renderCPU, Memory: b.memory, Output: f.renderOutput, Objects: f.renderObjects},
		Processes: b.processes, Spares: min(spareRenderers, b.processes), Observe: observe,
	})
	if err != nil {
		return nil, nil, err
	}
	confinement, err := pool.Check()
	if err != nil {
		pool.Close()
		return nil, nil, errors.Wrap(err, "cannot render in child processes; to render in the provider process, set --render-processes=0")
	}
	log.Info("Rendering charts in child processes", "processes", b.processes, "memory", b.memory, "notAvailable", confinement.Missing())
	return []manifest.Option{manifest.WithRenderer(pool)}, pool.Close, nil
}
