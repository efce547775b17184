// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// An environment is everything that runs in a demo.
type environment struct {
	dir string
	// bare says that there is no Crossplane.
	bare bool
	// keep says that dir outlives the demo.
	keep bool

	control, target *controlplane.Cluster
	registry        *controlplane.Registry
	// provider is that of a bare demo. Otherwise it is Crossplane's.
	provider   *process.Process
	crossplane *crossplane.Crossplane
	// references of modules in the registry, by <module>-<version>.
	references map[string]string
	// composite is the name of what the claim became, and of its Kyma.
	composite string

	// controlClient and targetClient are those of administrators.
	controlClient, targetClient client.Client
}

// newEnvironment returns one of which nothing is built and nothing runs.
func newEnvironment(bare bool) (*environment, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-demo-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a directory for the demo")
	}
	return &environment{dir: dir, bare: bare}, nil
}

// build builds everything that the demo runs. Nothing runs and nothing is waited for
// meanwhile, as builds take minutes the first time.
func (e *environment) build(ctx context.Context) error {
	steps, err := e.builds(ctx)
	if err != nil {
		return err
	}
	sayf("building what it runs, before anything is started:")
	return tools.Run(ctx, os.Stdout, steps...) //nolint:wrapcheck // It names what could not be built.
}

// builds lists the tools that this user does not have yet, and what is built of this
// repository.
func (e *environment) builds(ctx context.Context) ([]tools.Step, error) {
	steps, err := tools.Missing(ctx, e.tools()...)
	if err != nil {
		return nil, err //nolint:wrapcheck // It names the tool.
	}
	own := tools.Step{Name: "the packages of the provider and of its configuration", Usually: "2 minutes", Do: func(ctx context.Context) error {
		_, err := crossplane.BuildPackages(ctx, e.packages(), version)
		return err //nolint:wrapcheck // It names the package.
	}}
	if e.bare {
		own = tools.Step{Name: "the provider", Usually: "2 minutes", Do: func(ctx context.Context) error {
			_, err := controlplane.BuildProvider(ctx, e.binaries())
			return err //nolint:wrapcheck // It names the program.
		}}
	}
	return append(steps, own, tools.Step{Name: "kymactl", Do: e.equip}), nil
}

// tools that the demo runs.
func (e *environment) tools() []tools.Tool {
	run := append(tools.KubernetesServers(), tools.Kubectl)
	if !e.bare {
		run = append(run, tools.CrossplaneServers()...)
	}
	return run
}

// start starts all parts, which have been built; coreArgs are flags of Crossplane.
// What has been started has to be stopped also where it fails.
func (e *environment) start(ctx context.Context, coreArgs ...string) error {
	var err error
	if e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	if e.bare {
		return e.startBare(ctx)
	}
	sayf("starting a control plane with Crossplane, and a second cluster: up to a minute")
	return e.startServers(ctx, coreArgs)
}

// startBare starts a control plane with our kinds, and the provider as a process
// that may do anything, and a second cluster.
func (e *environment) startBare(ctx context.Context) error {
	sayf("starting a control plane with the provider, and a second cluster")
	clusters, err := controlplane.StartAll(ctx,
		controlplane.Options{Name: "control-plane", Dir: filepath.Join(e.dir, "control-plane"), ControllerManager: true},
		e.targetOptions())
	if err != nil {
		return err
	}
	e.control, e.target = clusters[0], clusters[1]
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := e.control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	e.provider, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: e.control.KubeconfigFile(), Dir: filepath.Join(e.dir, "provider-data"), Binary: filepath.Join(e.binaries(), "provider"),
	})
	return err
}

func (e *environment) targetOptions() controlplane.Options {
	return controlplane.Options{Name: "target", Dir: filepath.Join(e.dir, "target")}.Complete()
}

// startServers starts both clusters, and Crossplane in the first.
func (e *environment) startServers(ctx context.Context, coreArgs []string) error {
	options, err := crossplane.ClusterOptions(filepath.Join(e.dir, "control-plane"))
	if err != nil {
		return err
	}
	clusters, err := controlplane.StartAll(ctx, options, e.targetOptions())
	if err != nil {
		return err
	}
	e.control, e.target = clusters[0], clusters[1]
	if e.controlClient, err = e.control.Client(); err != nil {
		return err
	}
	if e.targetClient, err = e.target.Client(); err != nil {
		return err
	}
	e.crossplane, err = crossplane.Start(ctx, crossplane.Options{
		Cluster: e.control, Registry: e.registry, Dir: filepath.Join(e.dir, "crossplane"), CoreArgs: coreArgs,
	})
	return err
}

// watch returns why a part ended that should not have, or nil when ctx is done.
func (e *environment) watch(ctx context.Context) error {
	if e.crossplane == nil {
		select {
		case <-e.control.Crashed():
			return e.control.Err()
		case <-e.target.Crashed():
			return e.target.Err()
		case <-e.provider.Done():
			return e.provider.Err()
		case <-ctx.Done():
			return nil
		}
	}
	select {
	case <-e.control.Crashed():
		return e.control.Err()
	case <-e.target.Crashed():
		return e.target.Err()
	case err := <-e.crossplaneFails(ctx):
		return err
	case <-ctx.Done():
		return nil
	}
}

// keepLogs of a demo that failed, unless it was interrupted or nothing was started.
func (e *environment) keepLogs(ctx context.Context) {
	if e.registry == nil || errors.Is(context.Cause(ctx), context.Canceled) {
		return
	}
	e.keep = true
	if _, tail := e.providerLog(); tail != "" {
		sayf("the provider's log ends with:\n%s", tail)
	}
	sayf("all logs are kept in %s", e.dir)
}

// stop ends everything that was started, and removes its data
// unless that is kept.
func (e *environment) stop() {
	e.crossplane.Stop()
	e.provider.Stop()
	if e.registry != nil {
		e.registry.Stop()
	}
	e.target.Stop()
	e.control.Stop()
	if e.dir != "" && !e.keep {
		_ = os.RemoveAll(e.dir)
	}
}
