// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

// An environment is everything that runs in a demo.
type environment struct {
	dir string
	// keep says that dir outlives the demo.
	keep bool

	control, target *controlplane.Cluster
	registry        *controlplane.Registry
	// provider is that of a bare demo. Otherwise it is Crossplane's.
	provider   *controlplane.Process
	crossplane *crossplane.Crossplane
	// references of modules in the registry, by <module>-<version>.
	references map[string]string
	// composite is the name of what the claim became, and of its Kyma.
	composite string

	// controlClient and targetClient are those of administrators.
	controlClient, targetClient client.Client
}

// start starts all parts, or those of a bare demo; coreArgs are flags of Crossplane.
// What has been started is returned with an error too, and has to be stopped.
func start(ctx context.Context, bare bool, coreArgs ...string) (*environment, error) {
	e := &environment{}
	if !bare {
		if err := checkPort(ctx); err != nil {
			return e, err
		}
	}
	dir, err := os.MkdirTemp("", "provider-kyma-demo-")
	if err != nil {
		return e, errors.Wrap(err, "cannot make a folder for the demo")
	}
	e.dir = dir
	if e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return e, err
	}
	if bare {
		return e, e.startBare(ctx)
	}
	sayf("building the packages, and starting a control plane with Crossplane and a second cluster:")
	sayf("  up to a minute, and 20 minutes the first time, because the servers are built then")
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if _, err := crossplane.BuildPackages(gctx, e.packages(), version); err != nil {
			return err
		}
		return e.equip(gctx)
	})
	g.Go(func() error { return e.startServers(gctx, coreArgs) })
	return e, g.Wait() //nolint:wrapcheck // Both say what they could not do.
}

// startBare starts a control plane with our kinds, and the provider as a process
// that may do anything, and a second cluster.
func (e *environment) startBare(ctx context.Context) error {
	sayf("starting a control plane, and a second cluster")
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
	sayf("building kymactl, and building and starting the provider")
	if err := e.equip(ctx); err != nil {
		return err
	}
	binary, err := controlplane.BuildProvider(ctx, e.dir)
	if err != nil {
		return err
	}
	e.provider, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: e.control.KubeconfigFile(), Dir: filepath.Join(e.dir, "provider-data"), Binary: binary,
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

// keepLogs of a demo that failed, unless it was interrupted.
func (e *environment) keepLogs(ctx context.Context) {
	if e.dir == "" || errors.Is(context.Cause(ctx), context.Canceled) {
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
