// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/simulator"
)

// namespace is the namespace of the Kymas and their ProviderConfigs.
const namespace = "fleet"

// Options are the options of a World.
type Options struct {
	// Clusters is the number of clusters, with a Kyma each, and Modules is the number of modules of each Kyma.
	Clusters, Modules int
	// Real makes the clusters views of one real API server, with controllers and pods, instead of simulated ones. Their modules have names of
	// their own.
	Real bool
	// MemoryLimit is the soft memory limit of the provider, such as 2GiB. Without it, there is none.
	MemoryLimit string
	// Args are additional flags of the provider.
	Args []string
}

// A World contains the servers of the benchmark.
type World struct {
	Options

	Control   *controlplane.Cluster
	Simulator *simulator.Simulator
	Provider  *usage.Provider
	// Standby is the second replica of the provider, or nil.
	Standby *usage.Provider
	// Client is a client of the control plane.
	Client client.WithWatch

	// target is the real API server of the clusters, or nil.
	target   *controlplane.Cluster
	metrics  rest.Interface
	dir      string
	registry *controlplane.Registry
	chart    controlplane.Files
}

// Start starts all servers, with the first version of the modules but without clusters. After an error, it also returns what it has
// started, which the caller must stop.
func Start(ctx context.Context, o Options) (*World, error) {
	w := &World{Options: o}
	var err error
	if w.dir, err = os.MkdirTemp("", "provider-kyma-fleet-"); err != nil {
		return w, errors.Wrap(err, "cannot make a directory")
	}
	if err := w.build(ctx); err != nil {
		return w, err
	}
	if err := w.startClusters(ctx); err != nil {
		return w, err
	}
	if err := w.startControlPlane(ctx); err != nil {
		return w, err
	}
	if w.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return w, err
	}
	if err := w.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return w, errors.Wrap(err, "cannot create the namespace")
	}
	return w, w.StartProvider(ctx)
}

// startClusters starts the servers of the clusters.
func (w *World) startClusters(ctx context.Context) error {
	var kubeconfig string
	var err error
	if w.Real {
		o := controlplane.Options{Name: "target", Dir: filepath.Join(w.dir, "target")}
		if w.target, err = controlplane.Start(ctx, o.Complete()); err != nil {
			return err
		}
		kubeconfig = w.target.KubeconfigFile()
	}
	w.Simulator, err = simulator.Start(ctx, w.dir, kubeconfig)
	return err
}

func (w *World) startControlPlane(ctx context.Context) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if w.chart, err = controlplane.ReadDir(filepath.Join(root, "test", "fleet", "bench", "testdata", "module")); err != nil {
		return err
	}
	w.Control, err = controlplane.Start(ctx, controlplane.Options{
		Name: "control-plane", Dir: filepath.Join(w.dir, "control-plane"),
		// Deletion needs only this controller.
		ControllerManager: true, Controllers: []string{"garbage-collector-controller"},
		// With less memory, it collects garbage all the time if there are thousands of clusters, on the cores of the provider.
		APIServerEnv: []string{"GOMEMLIMIT=8GiB", "GOGC=300"},
	})
	if err != nil {
		return err
	}
	if w.Client, err = w.Control.Client(); err != nil {
		return err
	}
	plain, err := kubernetes.NewForConfig(w.Control.Config())
	if err != nil {
		return errors.Wrap(err, "cannot create a client")
	}
	w.metrics = plain.RESTClient()
	return w.Control.InstallCRDs(ctx, filepath.Join(root, "package", "crds"))
}

// build builds the servers that this user does not have yet, and the provider.
func (w *World) build(ctx context.Context) error {
	servers := []tools.Tool{tools.Etcd, tools.KubeAPIServer, tools.KubeControllerManager}
	if w.Real {
		servers = append(servers, tools.KubeScheduler, tools.Kwok)
	}
	steps, err := tools.Missing(ctx, servers...)
	if err != nil {
		return err //nolint:wrapcheck // It names the tool.
	}
	provider := tools.Step{Name: "the provider", Usually: "2 minutes", Do: func(ctx context.Context) error {
		_, err := controlplane.BuildProvider(ctx, w.dir)
		return err //nolint:wrapcheck // It names the program.
	}}
	return tools.Run(ctx, os.Stderr, append(steps, provider)...) //nolint:wrapcheck // It names what could not be built.
}

// StartProvider starts the provider, with the cache of its previous process. args are flags in addition to those of the Options.
func (w *World) StartProvider(ctx context.Context, args ...string) error {
	var err error
	w.Provider, err = w.startProvider(ctx, w.dir, args)
	return err
}

// StartStandby starts a second replica of the provider with leader election.
func (w *World) StartStandby(ctx context.Context) error {
	var err error
	w.Standby, err = w.startProvider(ctx, filepath.Join(w.dir, "standby"), []string{usage.LeaderElection})
	return err
}

// PromoteStandby makes the second replica the provider, after the first one has ended.
func (w *World) PromoteStandby() { w.Provider, w.Standby = w.Standby, nil }

// startProvider starts a replica with its data in a directory.
func (w *World) startProvider(ctx context.Context, dir string, args []string) (*usage.Provider, error) {
	var env []string
	if w.MemoryLimit != "" {
		env = []string{"GOMEMLIMIT=" + w.MemoryLimit}
	}
	return usage.Start(ctx, filepath.Join(w.dir, "provider"), dir, w.Control.KubeconfigFile(), env, append(slices.Clone(w.Args), args...)...)
}

// Metrics returns the metrics of the API server of the control plane.
func (w *World) Metrics(ctx context.Context) (usage.Metrics, error) {
	text, err := w.metrics.Get().AbsPath("/metrics").DoRaw(ctx)
	return usage.Metrics(text), errors.Wrap(err, "cannot read the metrics of the control plane")
}

// Watch returns the error of the first server that ends unexpectedly, or nil when ctx is done. It does not watch the provider, which
// is restarted.
func (w *World) Watch(ctx context.Context) error {
	var target <-chan struct{}
	if w.target != nil {
		target = w.target.Crashed()
	}
	select {
	case <-target:
		return w.target.Err()
	case <-w.Control.Crashed():
		return w.Control.Err()
	case <-w.Simulator.Done():
		return w.Simulator.Err()
	case <-ctx.Done():
		return nil
	}
}

// Stop stops all servers and removes their data.
func (w *World) Stop() {
	if w.Standby != nil {
		w.Standby.Stop()
	}
	if w.Provider != nil {
		w.Provider.Stop()
	}
	if w.Simulator != nil {
		w.Simulator.Stop()
	}
	if w.registry != nil {
		w.registry.Stop()
	}
	w.Control.Stop()
	w.target.Stop()
	if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}

// Cluster returns the name of a cluster, its Kyma and its ProviderConfig.
func Cluster(i int) string { return fmt.Sprintf("c%05d", i) }

// Clusters returns the names of the clusters from one number up to, but not including, another one.
func Clusters(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, Cluster(i))
	}
	return out
}

// moduleName returns the name of a module, and of its objects in each simulated cluster.
func moduleName(i int) string { return fmt.Sprintf("module-%d", i) }

// modulesOf returns the names of the modules of a cluster.
func (w *World) modulesOf(cluster int) []string {
	out := make([]string, 0, w.Modules)
	for i := range w.Modules {
		name := moduleName(i)
		if w.Real {
			name = simulator.NameIn(Cluster(cluster), name)
		}
		out = append(out, name)
	}
	return out
}

// allModules returns the names of all modules.
func (w *World) allModules() []string {
	if !w.Real {
		return w.modulesOf(0)
	}
	var out []string
	for i := range w.Clusters {
		out = append(out, w.modulesOf(i)...)
	}
	return out
}
