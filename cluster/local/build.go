// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

// build builds everything that the demo runs. Call it before any server starts and before any wait, because the first
// build takes minutes.
func build(ctx context.Context, w workshop, bare bool) error {
	steps, err := builds(ctx, w, bare)
	if err != nil {
		return err
	}
	sayf("building all programs before starting any:")
	return tools.Run(ctx, os.Stdout, steps...) //nolint:wrapcheck // It names what could not be built.
}

// builds returns the build steps: the tools that this user does not have yet, and the programs and packages of this
// repository.
func builds(ctx context.Context, w workshop, bare bool) ([]tools.Step, error) {
	steps, err := tools.Missing(ctx, toolsOf(bare)...)
	if err != nil {
		return nil, err //nolint:wrapcheck // It names the tool.
	}
	own := tools.Step{Name: "the provider and configuration packages", Usually: "2 minutes", Do: func(ctx context.Context) error {
		_, err := crossplane.BuildPackages(ctx, w.packages(), version)
		return err //nolint:wrapcheck // It names the package.
	}}
	if bare {
		own = tools.Step{Name: "the provider", Usually: "2 minutes", Do: func(ctx context.Context) error {
			_, err := controlplane.BuildProvider(ctx, w.binaries())
			return err //nolint:wrapcheck // It names the program.
		}}
	}
	return append(steps, own, tools.Step{Name: "kymactl", Do: w.equip}), nil
}

// toolsOf returns the tools that a demo runs.
func toolsOf(bare bool) []tools.Tool {
	run := append(tools.KubernetesServers(), tools.Kubectl)
	if !bare {
		run = append(run, tools.CrossplaneServers()...)
	}
	return run
}
