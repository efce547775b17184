// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// A Crossplane is an installation of Crossplane in a control plane. It is safe for concurrent use.
type Crossplane struct {
	host
	packages

	servers *servers
	node    *node
}

// Start installs Crossplane into a control plane and starts it. ctx applies only to the start. Build the tools of
// tools.CrossplaneServers first.
func Start(ctx context.Context, o Options) (*Crossplane, error) {
	if len(o.Activate) == 0 {
		o.Activate = []string{"*"}
	}
	x := &Crossplane{servers: &servers{}}
	if err := x.start(ctx, o); err != nil {
		x.Stop()
		return nil, errors.Wrap(err, "cannot start Crossplane")
	}
	return x, nil
}

func (x *Crossplane) start(ctx context.Context, o Options) error {
	var err error
	if x.host, err = newHost(o.Cluster, o.Dir); err != nil {
		return err
	}
	crank, err := tools.Path(ctx, tools.Crank)
	if err != nil {
		return err
	}
	x.packages = packages{at: x.host, servers: x.servers, registry: o.Registry, crank: crank}
	p, err := findProgram(ctx, o.Version)
	if err != nil {
		return err
	}
	if err := p.initialize(ctx, x.host, o.Activate); err != nil {
		return err
	}
	if err := x.servers.start(ctx, x.host, p, o); err != nil {
		return err
	}
	if err := x.mirror(ctx); err != nil {
		return err
	}
	x.node = startNode(ctx, x.host)
	return nil
}

// AwaitPod waits until the current revision of the provider, and no other, runs, and returns its process. A healthy
// provider may not run yet, because it has nothing to do without an active kind.
func (x *Crossplane) AwaitPod(ctx context.Context) (Pod, error) {
	var found Pod
	err := x.await(ctx, "the provider is running", func(ctx context.Context) error {
		p := &pkgv1.Provider{}
		if err := x.client.Get(ctx, client.ObjectKey{Name: ObjectName(ProviderPackage)}, p); err != nil {
			return err //nolint:wrapcheck // It names the object.
		}
		pods := x.Pods()
		if len(pods) != 1 || pods[0].Deployment != p.Status.CurrentRevision {
			return errors.Errorf("want revision %q, running pods: %+v", p.Status.CurrentRevision, pods)
		}
		found = pods[0]
		return nil
	})
	return found, err
}

// await calls check until it returns nil, a server ends, or the error of check has not changed for some time. The error
// contains the last error of the node.
func (x *Crossplane) await(ctx context.Context, what string, check func(context.Context) error) error {
	err := x.servers.await(ctx, what, check)
	if err == nil {
		return nil
	}
	return errors.Errorf("%w (last error of the simulated node: %v)", err, x.node.lastError())
}

// Broken returns the error of a server that ended unexpectedly, or nil.
func (x *Crossplane) Broken() error { return x.servers.broken() }

// Err returns the error of a server that ended unexpectedly, or the last error of the simulated node, or nil if there is
// none.
func (x *Crossplane) Err() error {
	if err := x.Broken(); err != nil {
		return err
	}
	return x.node.lastError()
}

// Pods returns the running processes of providers, sorted by Deployment.
func (x *Crossplane) Pods() []Pod { return x.node.pods.list() }

// Stop stops everything that Start started. It can be called on nil, and more than once.
func (x *Crossplane) Stop() {
	if x == nil {
		return
	}
	x.node.stop()
	x.servers.stop()
}
