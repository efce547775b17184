// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/cluster/local/fleet"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// calm is how long Crossplane may report errors before the demo fails, because failed steps are retried.
const calm = 15 * time.Second

// servers holds all servers of a demo.
type servers struct {
	workshop workshop
	// keep is true if the workshop outlives the demo.
	keep bool

	control, target *controlplane.Cluster
	// fleet are the clusters of the fleet. A demo without Crossplane has none.
	fleet    []*controlplane.Cluster
	registry *controlplane.Registry
	// provider is the process of the provider in a demo without Crossplane, and nil otherwise.
	provider   *process.Process
	crossplane *crossplane.Crossplane
}

// clusters returns all clusters. Those that were not started are nil.
func (s *servers) clusters() []*controlplane.Cluster {
	return append([]*controlplane.Cluster{s.control, s.target}, s.fleet...)
}

func (s *servers) dir(name string) string { return filepath.Join(string(s.workshop), name) }

// start starts all servers, which must have been built. coreArgs are flags of Crossplane. After an error, the caller must
// stop the servers that were started.
func (s *servers) start(ctx context.Context, coreArgs ...string) error {
	sayf("starting a control plane with Crossplane, a second cluster, and a fleet of five small clusters; this takes up to a minute")
	options, err := crossplane.ClusterOptions(s.dir("control-plane"))
	if err != nil {
		return err
	}
	if err := s.startClusters(ctx, options); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		s.fleet, err = controlplane.StartAll(ctx, fleet.Options(s.dir("fleet"))...)
		return err
	})
	g.Go(func() (err error) {
		s.crossplane, err = crossplane.Start(ctx, crossplane.Options{
			Cluster: s.control, Registry: s.registry, Dir: s.dir("crossplane"), CoreArgs: coreArgs,
		})
		return err
	})
	return g.Wait() //nolint:wrapcheck // It names the server.
}

// startBare starts the servers without Crossplane: a control plane with the provider's kinds, and the provider as a
// process with all permissions.
func (s *servers) startBare(ctx context.Context) error {
	sayf("starting a control plane with the provider and a second cluster")
	err := s.startClusters(ctx, controlplane.Options{Name: "control-plane", Dir: s.dir("control-plane"), ControllerManager: true})
	if err != nil {
		return err
	}
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := s.control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	s.provider, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: s.control.KubeconfigFile(), Dir: s.dir("provider-data"), Binary: filepath.Join(s.workshop.binaries(), "provider"),
	})
	return err
}

// startClusters starts a control plane, a second cluster and a registry.
func (s *servers) startClusters(ctx context.Context, control controlplane.Options) error {
	var err error
	if s.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	clusters, err := controlplane.StartAll(ctx, control, controlplane.Options{Name: "target", Dir: s.dir("target")}.Complete())
	if err != nil {
		return err
	}
	s.control, s.target = clusters[0], clusters[1]
	return nil
}

// watched runs a part of the demo, and cancels it with an error when a server ends unexpectedly.
func (s *servers) watched(ctx context.Context, part func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(s.watch(ctx)) }()
	err := part(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// watch returns the error of the first server that ends unexpectedly, or nil when ctx is done.
func (s *servers) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	crashed := crashes(ctx, s.clusters())
	if s.crossplane == nil {
		select {
		case err := <-crashed:
			return err
		case <-s.provider.Done():
			return s.provider.Err()
		case <-ctx.Done():
			return nil
		}
	}
	select {
	case err := <-crashed:
		return err
	case err := <-fails(ctx, s.crossplane):
		return err
	case <-ctx.Done():
		return nil
	}
}

// crashes returns a channel that receives the error of each cluster of which a server ends unexpectedly. It watches the clusters until
// ctx is done.
func crashes(ctx context.Context, clusters []*controlplane.Cluster) <-chan error {
	crashed := make(chan error, len(clusters))
	for _, c := range clusters {
		go func() {
			select {
			case <-c.Crashed():
				crashed <- c.Err()
			case <-ctx.Done():
			}
		}()
	}
	return crashed
}

// keepLogs keeps the logs of a failed demo, unless it was interrupted or no server was started.
func (s *servers) keepLogs(ctx context.Context) {
	if s.registry == nil || errors.Is(context.Cause(ctx), context.Canceled) {
		return
	}
	s.keep = true
	if _, tail := s.providerLog(); tail != "" {
		sayf("last lines of the log of the provider:\n%s", tail)
	}
	sayf("all logs are in %s", s.workshop)
}

// stop stops all servers, and removes their data unless keep is set.
func (s *servers) stop() {
	s.crossplane.Stop()
	s.provider.Stop()
	if s.registry != nil {
		s.registry.Stop()
	}
	for _, c := range s.clusters() {
		c.Stop()
	}
	if !s.keep {
		_ = os.RemoveAll(string(s.workshop))
	}
}

// fails returns a channel that receives the error of Crossplane if it does not recover in time. It checks Crossplane
// every second until ctx is done.
func fails(ctx context.Context, x *crossplane.Crossplane) <-chan error {
	failed := make(chan error, 1)
	go func() {
		well := time.Now()
		for ctx.Err() == nil {
			err := x.Err()
			if err == nil {
				well = time.Now()
			}
			if time.Since(well) > calm {
				failed <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	return failed
}

// providerLog returns the path of the provider's log and its last lines.
func (s *servers) providerLog() (path, tail string) {
	p := s.provider
	if s.crossplane != nil {
		for _, pod := range s.crossplane.Pods() {
			p = pod.Process
		}
	}
	if p == nil {
		return "", ""
	}
	return p.LogFile(), p.Tail()
}
