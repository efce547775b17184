// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// An environment holds the servers of the benchmark.
type environment struct {
	dir             string
	control, target *controlplane.Cluster
	registry        *controlplane.Registry
	provider        *usage.Provider
	// chart contains the files of the benchmark's chart, and source is the same chart as a module layer, for the
	// Manifests.
	chart  controlplane.Files
	source v1alpha1.Source

	controlClient client.WithWatch
	targetClient  client.Client
}

// start starts all servers. After an error, it also returns the servers that it has started, which the caller must stop.
func start(ctx context.Context) (*environment, error) {
	e := &environment{}
	var err error
	if e.dir, err = os.MkdirTemp("", "provider-kyma-bench-"); err != nil {
		return e, errors.Wrap(err, "cannot make a directory")
	}
	root, err := tools.Root()
	if err != nil {
		return e, err
	}
	if err := e.build(ctx); err != nil {
		return e, err
	}
	sayf("starting a control plane and a target cluster")
	if err := e.startClusters(ctx); err != nil {
		return e, err
	}
	if err := e.control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return e, err
	}
	if err := e.startRegistry(ctx, filepath.Join(root, "test", "bench", "testdata", "chart")); err != nil {
		return e, err
	}
	sayf("starting the provider")
	e.provider, err = usage.Start(ctx, filepath.Join(e.dir, "provider"), e.dir, e.control.KubeconfigFile(), nil)
	return e, err
}

// build builds the servers that this user does not have yet, and the provider.
func (e *environment) build(ctx context.Context) error {
	steps, err := tools.Missing(ctx, tools.Etcd, tools.KubeAPIServer, tools.KubeControllerManager)
	if err != nil {
		return err //nolint:wrapcheck // It names the tool.
	}
	provider := tools.Step{Name: "the provider", Usually: "2 minutes", Do: func(ctx context.Context) error {
		_, err := controlplane.BuildProvider(ctx, e.dir)
		return err //nolint:wrapcheck // It names the program.
	}}
	sayf("building all programs before starting any:")
	return tools.Run(ctx, os.Stdout, append(steps, provider)...) //nolint:wrapcheck // It names what could not be built.
}

func (e *environment) startClusters(ctx context.Context) error {
	clusters, err := controlplane.StartAll(ctx,
		controlplane.Options{Name: "control-plane", Dir: filepath.Join(e.dir, "control-plane")},
		controlplane.Options{
			Name: "target", Dir: filepath.Join(e.dir, "target"), ControllerManager: true,
			Controllers: []string{"deployment-controller", "replicaset-controller"},
		})
	if err != nil {
		return err
	}
	e.control, e.target = clusters[0], clusters[1]
	if e.controlClient, err = e.control.Client(); err != nil {
		return err
	}
	e.targetClient, err = e.target.Client()
	return err
}

func (e *environment) startRegistry(ctx context.Context, chart string) error {
	var err error
	if e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	if e.chart, err = controlplane.ReadDir(chart); err != nil {
		return err
	}
	layer, err := e.registry.PushModule(ctx, repository+"/"+component, e.chart)
	e.source = v1alpha1.Source{
		Type: v1alpha1.SourceTypeOCIRef, Repo: e.registry.Host() + "/" + repository, Name: component, Ref: layer.Layer,
	}
	return err
}

// watch returns the error of the first part of the environment that ends unexpectedly, or nil when ctx is done.
func (e *environment) watch(ctx context.Context) error {
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

// stop stops all servers and removes their data.
func (e *environment) stop() {
	if e.provider != nil {
		e.provider.Stop()
	}
	if e.registry != nil {
		e.registry.Stop()
	}
	e.target.Stop()
	e.control.Stop()
	if e.dir != "" {
		_ = os.RemoveAll(e.dir)
	}
}
