// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// An environment is everything that runs.
type environment struct {
	dir string
	// binaries is the directory with what was built, which all processes share.
	binaries string
	// control is the control plane, target the cluster that modules are installed into.
	control, target *controlplane.Cluster
	// controlClient and targetClient are those of administrators.
	controlClient, targetClient client.Client
	registry                    *controlplane.Registry
	provider                    *provider
	// kymactl is the path of its binary.
	kymactl string
}

// buildBinaries of the provider and of kymactl into a directory, which is returned.
func buildBinaries(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-binaries-")
	if err != nil {
		return "", errors.Wrap(err, "cannot make a directory")
	}
	for _, command := range []string{"provider", "kymactl"} {
		if err := build(ctx, dir, command); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// start everything with the binaries in a directory.
func start(ctx context.Context, binaries string) (*environment, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-integration-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a directory")
	}
	e := &environment{dir: dir, binaries: binaries, kymactl: filepath.Join(binaries, "kymactl")}
	e.provider = &provider{binary: filepath.Join(binaries, "provider"), dir: dir}
	err = e.startServers(ctx)
	if err == nil {
		e.provider.kubeconfig = e.control.KubeconfigFile()
		err = e.provider.start(ctx)
	}
	if err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

func (e *environment) startServers(ctx context.Context) error {
	clusters, err := controlplane.StartAll(ctx,
		// Of the controllers, those that the end of things needs.
		controlplane.Options{
			Name: "control-plane", ControllerManager: true,
			Controllers: []string{"namespace-controller", "garbage-collector-controller"},
		},
		controlplane.Options{Name: "target"}.Complete())
	if err != nil {
		return err
	}
	e.control, e.target = clusters[0], clusters[1]
	if e.controlClient, err = newClient(e.control); err != nil {
		return err
	}
	if e.targetClient, err = newClient(e.target); err != nil {
		return err
	}
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := e.control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{})
	return err
}

// newClient of an administrator of a cluster. It reads from the API server, not from a cache.
func newClient(c *controlplane.Cluster) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register the kinds of Kubernetes")
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register our kinds")
	}
	return client.New(c.Config(), client.Options{Scheme: scheme})
}

// stop everything, and remove its data.
func (e *environment) stop() {
	if e.provider != nil {
		e.provider.kill()
	}
	if e.registry != nil {
		e.registry.Stop()
	}
	e.target.Stop()
	e.control.Stop()
	_ = os.RemoveAll(e.dir)
}
