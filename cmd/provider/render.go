// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

// spareRenderers is the number of processes that are kept ready for rendering.
const spareRenderers = 2

// rendering returns the options of an engine that renders in child processes, and a function that ends them.
func rendering(f *flags, log logging.Logger) ([]manifest.Option, func(), error) {
	if f.renderProcesses == 0 {
		log.Info("Charts are rendered in this process, where they can block it or use up its memory", "flag", "--render-processes")
		return nil, func() {}, nil
	}
	pool, err := sandbox.New(sandbox.Options{
		Limits:    sandbox.Limits{CPU: f.renderCPU, Memory: f.renderMemory, Output: f.renderOutput, Objects: f.renderObjects},
		Processes: f.renderProcesses, Spares: min(spareRenderers, f.renderProcesses),
	})
	if err != nil {
		return nil, nil, err
	}
	confinement, err := pool.Check()
	if err != nil {
		pool.Close()
		return nil, nil, errors.Wrap(err, "cannot render in child processes; --render-processes=0 renders in this one")
	}
	log.Info("Charts are rendered in child processes", "notAvailable", confinement.Missing())
	return []manifest.Option{manifest.WithRenderer(pool)}, pool.Close, nil
}
