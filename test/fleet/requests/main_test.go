// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

const (
	namespace  = "fleet"
	repository = "modules"
	version    = "1.0.0"
	// modules is the number of modules of each Kyma, and objects the number of objects of each module.
	modules = 3
	objects = 5
)

// All tests share the servers, because starting them is slow.
var (
	config    *rest.Config
	control   client.WithWatch
	recorded  *proxy
	simulator *apiserver.Server
	registry  *controlplane.Registry
	installer *provider
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "provider-kyma-requests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	defer func() {
		if installer != nil && installer.process != nil {
			installer.process.Stop()
		}
	}()
	return controlplane.RunTests(m, controlplane.Options{Name: "control-plane"}, func(ctx context.Context, c *controlplane.Cluster) error {
		return setUp(ctx, c, dir)
	})
}

func setUp(ctx context.Context, c *controlplane.Cluster, dir string) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	config = c.Config()
	if control, err = c.Client(); err != nil {
		return err
	}
	if err := control.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return errors.Wrap(err, "cannot create the namespace")
	}
	if recorded, err = newProxy(config); err != nil {
		return err
	}
	installer = &provider{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	return forward.WriteKubeconfig(installer.kubeconfig, recorded.URL)
}

// startProvider builds and starts the provider and what it needs: simulated clusters, a registry and modules.
func startProvider(ctx context.Context) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if simulator, err = apiserver.Start(ctx, apiserver.Options{}); err != nil {
		return err
	}
	if registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	if installer.binary, err = controlplane.BuildProvider(ctx, installer.dir); err != nil {
		return err
	}
	if err := installer.start(ctx); err != nil {
		return err
	}
	return release(ctx, filepath.Join(root, "test", "bench", "testdata", "chart"))
}

func moduleName(i int) string { return fmt.Sprintf("module-%d", i) }

// release pushes the modules, and creates their ModuleTemplates.
func release(ctx context.Context, dir string) error {
	chart, err := controlplane.ReadDir(dir)
	if err != nil {
		return err
	}
	for i := range modules {
		name := moduleName(i)
		c := controlplane.Component{
			Name: "example.org/module/" + name, Version: version,
			Resources: []controlplane.ComponentResource{{Name: name, Type: "helm-chart", Files: maps.Clone(chart)}},
		}
		if _, err := registry.PushComponent(ctx, repository, c); err != nil {
			return err
		}
		t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
		t.Spec = v1alpha1.ModuleTemplateSpec{
			Channel:   "regular",
			Component: &v1alpha1.Component{Repository: registry.Host() + "/" + repository, Name: c.Name, Version: c.Version},
		}
		if err := control.Create(ctx, t); err != nil {
			return errors.Wrapf(err, "cannot create ModuleTemplate %s", name)
		}
	}
	return nil
}

// connect adds a cluster to the simulator, and creates its ProviderConfig, which has the same name.
func connect(ctx context.Context, name string) error {
	if err := simulator.AddCluster(name); err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string][]byte{"kubeconfig": simulator.Kubeconfig(name)},
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: name, Key: "kubeconfig"}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: registry.Host(), PlainHTTP: true}}
	for _, o := range []client.Object{secret, pc} {
		if err := control.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %s", o, name)
		}
	}
	return nil
}

// newKyma returns a Kyma of all modules for the cluster of the same name.
func newKyma(name string) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name}
	for i := range modules {
		k.Spec.ForProvider.Modules = append(k.Spec.ForProvider.Modules, v1alpha1.Module{Name: moduleName(i)})
	}
	return k
}
