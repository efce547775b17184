// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// targetKubernetes is the environment variable with the minor version of Kubernetes of the target. See make test-matrix.
const targetKubernetes = "TARGET_KUBERNETES"

// An Environment holds the servers and the provider that the specs of one process share.
type Environment struct {
	Dir string
	// Binaries is the directory of the built binaries, which all processes share.
	Binaries string
	// Control is the control plane, Target the cluster that modules are installed into.
	Control, Target *controlplane.Cluster
	// ControlClient and TargetClient have the permissions of administrators.
	ControlClient, TargetClient client.Client
	Registry                    *controlplane.Registry
	Provider                    *Provider
	// Kymactl is the path of the kymactl binary.
	Kymactl string
}

// Shipped returns the path of the provider without the race detector, as it is shipped, in a directory of BuildBinaries.
func Shipped(binaries string) string { return filepath.Join(binaries, "shipped", "provider") }

// BuildBinaries builds the provider, with and without the race detector, and kymactl into a new directory, and returns its path.
func BuildBinaries(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-binaries-")
	if err != nil {
		return "", errors.Wrap(err, "cannot make a directory")
	}
	_, err = controlplane.BuildProvider(ctx, filepath.Dir(Shipped(dir)))
	for _, command := range []string{"provider", "kymactl"} {
		if err == nil {
			err = build(ctx, dir, command)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// Start starts all servers and the provider, with the binaries in a directory, and returns once the provider is ready.
func Start(ctx context.Context, binaries string) (*Environment, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-integration-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a directory")
	}
	e := &Environment{Dir: dir, Binaries: binaries, Kymactl: filepath.Join(binaries, "kymactl")}
	e.Provider = &Provider{Binary: filepath.Join(binaries, "provider"), Renderer: Shipped(binaries), dir: dir}
	err = e.startServers(ctx)
	if err == nil {
		e.Provider.Kubeconfig = e.Control.KubeconfigFile()
		err = e.Provider.Start(ctx)
	}
	if err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

func (e *Environment) startServers(ctx context.Context) error {
	clusters, err := controlplane.StartAll(ctx,
		// Deletion needs only these controllers.
		controlplane.Options{
			Name: "control-plane", ControllerManager: true,
			Controllers: []string{"namespace-controller", "garbage-collector-controller"},
		},
		controlplane.Options{Name: "target", Kubernetes: os.Getenv(targetKubernetes)}.Complete())
	if err != nil {
		return err
	}
	e.Control, e.Target = clusters[0], clusters[1]
	if err := checkVersion(e.Target); err != nil {
		return err
	}
	if e.ControlClient, err = NewClient(e.Control); err != nil {
		return err
	}
	if e.TargetClient, err = NewClient(e.Target); err != nil {
		return err
	}
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := e.Control.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	e.Registry, err = controlplane.StartRegistry(controlplane.WebOptions{})
	return err
}

// checkVersion returns an error if a target does not have the version of Kubernetes that the environment variable requests.
func checkVersion(target *controlplane.Cluster) error {
	wanted := os.Getenv(targetKubernetes)
	if wanted == "" {
		return nil
	}
	c, err := discovery.NewDiscoveryClientForConfig(target.Config())
	if err != nil {
		return errors.Wrap(err, "cannot make a client")
	}
	got, err := c.ServerVersion()
	if err != nil {
		return errors.Wrap(err, "cannot get the version of the target")
	}
	if got.Major+"."+got.Minor != wanted {
		return errors.Errorf("want a target with Kubernetes %s, got %s", wanted, got)
	}
	return nil
}

// NewClient returns a client with the permissions of an administrator. It reads from the API server, not from a cache.
func NewClient(c *controlplane.Cluster) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register the kinds of Kubernetes")
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register our kinds")
	}
	return client.New(c.Config(), client.Options{Scheme: scheme})
}

// Stop stops everything and removes its data.
func (e *Environment) Stop() {
	if e.Provider != nil {
		e.Provider.Kill()
	}
	if e.Registry != nil {
		e.Registry.Stop()
	}
	e.Target.Stop()
	e.Control.Stop()
	_ = os.RemoveAll(e.Dir)
}
