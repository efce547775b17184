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
)

// An environment is everything that runs in a demo.
type environment struct {
	dir string
	// keep says that dir outlives the demo.
	keep bool

	control, target *controlplane.Cluster
	registry        *controlplane.Registry
	provider        *controlplane.Process

	// controlClient and targetClient are those of administrators.
	controlClient, targetClient client.Client
}

// start starts all parts, or those of a bare demo. What has been started is
// returned with an error too, and has to be stopped.
func start(ctx context.Context, bare bool) (*environment, error) {
	e := &environment{}
	dir, err := os.MkdirTemp("", "provider-kyma-demo-")
	if err != nil {
		return e, errors.Wrap(err, "cannot make a folder for the demo")
	}
	e.dir = dir
	if err := e.startClusters(ctx, bare); err != nil {
		return e, err
	}
	root, err := tools.Root()
	if err != nil {
		return e, err
	}
	if err := e.control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return e, err
	}
	if e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return e, err
	}
	sayf("building and starting the provider")
	binary, err := controlplane.BuildProvider(ctx, e.dir)
	if err != nil {
		return e, err
	}
	e.provider, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: e.control.KubeconfigFile(), Dir: filepath.Join(e.dir, "provider-data"), Binary: binary,
	})
	return e, err
}

func (e *environment) startClusters(ctx context.Context, bare bool) error {
	options := []controlplane.Options{{Name: "control-plane", Dir: filepath.Join(e.dir, "control-plane"), ControllerManager: true}}
	if bare {
		sayf("starting a control plane")
	} else {
		sayf("starting a control plane, and a second cluster to install modules into")
		options = append(options, controlplane.Options{Name: "target", Dir: filepath.Join(e.dir, "target")}.Complete())
	}
	clusters, err := controlplane.StartAll(ctx, options...)
	if err != nil {
		return err
	}
	e.control = clusters[0]
	if e.controlClient, err = e.control.Client(); err != nil || bare {
		return err
	}
	e.target = clusters[1]
	e.targetClient, err = e.target.Client()
	return err
}

// watch returns why a part ended that should not have, or nil when ctx is done.
func (e *environment) watch(ctx context.Context) error {
	target := e.control
	if e.target != nil {
		target = e.target
	}
	select {
	case <-e.control.Crashed():
		return e.control.Err()
	case <-target.Crashed():
		return target.Err()
	case <-e.provider.Done():
		return e.provider.Err()
	case <-ctx.Done():
		return nil
	}
}

// stop ends everything that was started, and removes its data
// unless that is kept.
func (e *environment) stop() {
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
