// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// pollInterval is the pause between two looks of the played node, and of waits.
const pollInterval = 200 * time.Millisecond

// Crossplane runs in a control plane. Its methods may be called from any goroutine.
type Crossplane struct {
	options Options
	dir     string
	client  client.Client
	// crank is the path of the command line.
	crank string

	core, rbac *process.Process
	node       *node

	stopNode context.CancelFunc
	stopped  sync.WaitGroup
}

// Start installs Crossplane into a control plane and starts it. ctx bounds the
// start only. The tools of tools.CrossplaneServers have to be built before.
func Start(ctx context.Context, o Options) (*Crossplane, error) {
	if len(o.Activate) == 0 {
		o.Activate = []string{"*"}
	}
	x := &Crossplane{options: o}
	if err := x.start(ctx); err != nil {
		x.Stop()
		return nil, errors.Wrap(err, "cannot start Crossplane")
	}
	return x, nil
}

func (x *Crossplane) start(ctx context.Context) error {
	if err := x.prepare(ctx); err != nil {
		return err
	}
	if err := x.install(ctx); err != nil {
		return err
	}
	if err := x.startServers(ctx); err != nil {
		return err
	}
	if err := x.mirror(ctx); err != nil {
		return err
	}
	// The node outlives the call: Stop ends it.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.stopNode = cancel
	x.stopped.Go(func() { x.node.run(running) })
	return nil
}

func (x *Crossplane) prepare(ctx context.Context) error {
	dir, err := filepath.Abs(x.options.Dir)
	if err != nil {
		return errors.Wrap(err, "cannot find the folder")
	}
	x.dir = dir
	for _, sub := range []string{"tls", "xpkg", "xfn"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return errors.Wrap(err, "cannot make the folder")
		}
	}
	if x.crank, err = tools.Path(ctx, tools.Crank); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, pkgv1.SchemeBuilder.AddToScheme, pkgv1beta1.SchemeBuilder.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return errors.Wrap(err, "cannot register the kinds of Crossplane")
		}
	}
	if x.client, err = client.New(x.options.Cluster.Config(), client.Options{Scheme: scheme}); err != nil {
		return errors.Wrap(err, "cannot make a client")
	}
	x.node = newNode(x)
	return nil
}

// Dir returns the folder with the logs.
func (x *Crossplane) Dir() string { return x.dir }

// Err says what of Crossplane ended without being asked to, or what the played node
// could not do last. It is nil as long as all is well.
func (x *Crossplane) Err() error {
	if err := x.broken(); err != nil {
		return err
	}
	return x.node.lastError()
}

// Stop ends everything that was started. It may be called on nil, and again.
func (x *Crossplane) Stop() {
	if x == nil {
		return
	}
	if x.stopNode != nil {
		x.stopNode()
		x.stopped.Wait()
	}
	if x.node != nil {
		x.node.stop()
	}
	x.rbac.Stop()
	x.core.Stop()
}

// await calls check until it returns nil, Crossplane ends, or what check returns has
// not changed for some time.
func (x *Crossplane) await(ctx context.Context, what string, check func(context.Context) error) error {
	err := x.wait(what, nil).Until(ctx, func(ctx context.Context) (bool, string, error) {
		err := check(ctx)
		return err == nil, "", err
	})
	if err == nil {
		return nil
	}
	return errors.Errorf("%w (the node says: %v; logs are in %s)", err, x.node.lastError(), x.dir)
}

// wait for something that Crossplane does.
func (x *Crossplane) wait(what string, onChange func(string)) process.Wait {
	return process.Wait{What: what, Every: pollInterval, OnChange: onChange, Broken: x.broken}
}

// broken says which server ended.
func (x *Crossplane) broken() error {
	for _, p := range []*process.Process{x.core, x.rbac} {
		if p != nil && p.Err() != nil {
			return p.Err()
		}
	}
	return nil
}
