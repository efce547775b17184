// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"net"
	"os"
	"path/filepath"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"google.golang.org/grpc"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A freshPlane is a control plane without any of our kinds, and the directory of a provider for it.
type freshPlane struct {
	cluster *controlplane.Cluster
	client  client.Client
	dir     string
}

func newFreshPlane(ctx context.Context) *freshPlane {
	GinkgoHelper()
	c, err := controlplane.Start(ctx, controlplane.Options{Name: "fresh"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(c.Stop)
	cl, err := NewClient(c)
	Expect(err).NotTo(HaveOccurred())
	return &freshPlane{cluster: c, client: cl, dir: GinkgoT().TempDir()}
}

// serve installs the CRDs with these plural names.
func (f *freshPlane) serve(ctx context.Context, plurals ...string) {
	GinkgoHelper()
	root, err := tools.Root()
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	for _, p := range plurals {
		file := v1alpha1.Group + "_" + p + ".yaml"
		b, err := os.ReadFile(filepath.Join(root, "package", "crds", file))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(dir, file), b, 0o600)).To(Succeed())
	}
	Expect(f.cluster.InstallCRDs(ctx, dir)).To(Succeed())
}

// start starts the provider with a kubeconfig.
func (f *freshPlane) start(ctx context.Context, kubeconfig string, args ...string) (*process.Process, error) {
	return controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: kubeconfig, Dir: f.dir, Binary: Env.Provider.Binary, Args: args,
		Env: []string{
			"LEADER_ELECTION=true", "POD_NAMESPACE=default", "PROVIDER_POLL_STATE_METRIC=100ms",
			Env.Provider.Rendering(),
		},
	})
}

// outsider writes the kubeconfig of a user without any permissions, and returns its path.
func (f *freshPlane) outsider() string {
	GinkgoHelper()
	config, err := f.cluster.User("outsider")
	Expect(err).NotTo(HaveOccurred())
	b, err := f.cluster.KubeconfigOf(config)
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(f.dir, "outsider")
	Expect(os.WriteFile(path, b, 0o600)).To(Succeed())
	return path
}

// conditions returns the conditions of an object.
func (f *freshPlane) conditions(ctx context.Context, o client.Object) ([]xpv2.Condition, error) {
	if err := f.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return nil, err
	}
	switch o := o.(type) {
	case *v1alpha1.Kyma:
		return o.Status.Conditions, nil
	case *v1alpha1.Manifest:
		return o.Status.Conditions, nil
	case *v1alpha1.ModuleTemplate:
		return o.Status.Conditions, nil
	}
	return nil, nil
}

// Crossplane activates the kinds of a package one by one, if it is configured to.
var _ = Describe("SafeStart", func() {
	It("starts each controller when its kinds are served", func(ctx SpecContext) {
		f := newFreshPlane(ctx)

		By("failing without the permission to watch CRDs while some are missing")
		_, err := f.start(ctx, f.outsider())
		Expect(err).To(MatchError(ContainSubstring("cannot start the controller of ProviderConfigs: without permission to watch CustomResourceDefinitions, the provider needs all of")))

		By("starting with only ProviderConfigs")
		f.serve(ctx, "providerconfigs", "clusterproviderconfigs", "providerconfigusages")
		metricsAddress, err := FreeAddress(ctx)
		Expect(err).NotTo(HaveOccurred())
		changes := f.listen(ctx)
		p, err := f.start(ctx, f.cluster.KubeconfigFile(), "--metrics-bind-address="+metricsAddress, "--enable-changelogs", "--changelogs-socket-path="+changes.socket)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(p.Stop)
		config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		config.Spec.Credentials.Source = "InjectedIdentity"
		Expect(f.client.Create(ctx, config)).To(Succeed())
		Eventually(func() ([]string, error) {
			err := f.client.Get(ctx, client.ObjectKeyFromObject(config), config)
			return config.Finalizers, err
		}).WithContext(ctx).ShouldNot(BeEmpty())

		By("starting the controller of Kymas when Manifests are served, too")
		f.serve(ctx, "moduletemplates", "modulereleasemetas", "rolloutpolicies", "kymas")
		template := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: "broken"}}
		template.Spec.Channel = "regular"
		template.Spec.Component = &v1alpha1.Component{Repository: "127.0.0.1:1/none", Name: "example.org/module/broken", Version: "1.0.0"}
		Expect(f.client.Create(ctx, template)).To(Succeed())
		kyma := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kyma"}}
		kyma.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "missing"}}
		Expect(f.client.Create(ctx, kyma)).To(Succeed())
		Eventually(f.conditions).WithContext(ctx).WithArguments(template).ShouldNot(BeEmpty())
		Consistently(f.conditions).WithContext(ctx).WithArguments(kyma).WithTimeout(Calm / 3).Should(BeEmpty())

		f.serve(ctx, "manifests")
		manifest := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "manifest"}}
		manifest.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "none", Source: HelmChart("oci://127.0.0.1:1", "none", "1.0.0")}}
		Expect(f.client.Create(ctx, manifest)).To(Succeed())
		Eventually(f.conditions).WithContext(ctx).WithArguments(manifest).ShouldNot(BeEmpty())
		Eventually(f.conditions).WithContext(ctx).WithArguments(kyma).ShouldNot(BeEmpty())

		By("writing change logs")
		var entry *changelogs.ChangeLogEntry
		Eventually(changes.entries).WithContext(ctx).Should(Receive(&entry))
		Expect([]string{entry.GetApiVersion(), entry.GetKind(), entry.GetName(), entry.GetOperation().String()}).To(
			Equal([]string{"kyma.m.crossplane.io/v1alpha1", "Kyma", "kyma", "OPERATION_TYPE_CREATE"}))

		By("exposing metrics, and holding its lease")
		m := &Provider{Metrics: metricsAddress}
		Eventually(m.Scrape).WithContext(ctx).Should(SatisfyAll(
			HaveKeyWithValue(`crossplane_managed_resource_exists{gvk="kyma.m.crossplane.io/v1alpha1, Kind=Kyma"}`, 1.0),
			HaveKeyWithValue(`crossplane_managed_resource_exists{gvk="kyma.m.crossplane.io/v1alpha1, Kind=Manifest"}`, 1.0),
			HaveKey(ContainSubstring(`provider_kyma_build_info{commit="`))))
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "crossplane-leader-election-provider-kyma"}}
		Expect(f.client.Get(ctx, client.ObjectKeyFromObject(lease), lease)).To(Succeed())
		Expect(lease.Spec.HolderIdentity).To(HaveValue(Not(BeEmpty())))

		By("shutting down gracefully, and releasing the lease")
		f.end(ctx, p)
		Expect(f.client.Get(ctx, client.ObjectKeyFromObject(lease), lease)).To(Succeed())
		Expect(lease.Spec.HolderIdentity).To(HaveValue(BeEmpty()))
		log, err := os.ReadFile(p.LogFile())
		Expect(err).NotTo(HaveOccurred())
		Expect(string(log)).NotTo(SatisfyAny(ContainSubstring("DATA RACE"), ContainSubstring("Index with name"), ContainSubstring("Observed a panic")))
	})
})

// A changeLog is a change log service that keeps its entries in a channel.
type changeLog struct {
	changelogs.UnimplementedChangeLogServiceServer

	socket  string
	entries chan *changelogs.ChangeLogEntry
}

// SendChangeLog sends an entry to the channel.
func (c *changeLog) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	c.entries <- r.GetEntry()
	return &changelogs.SendChangeLogResponse{}, nil
}

// listen starts a change log service at a Unix socket, until the end of the spec.
func (f *freshPlane) listen(ctx context.Context) *changeLog {
	GinkgoHelper()
	c := &changeLog{socket: filepath.Join(f.dir, "changes.sock"), entries: make(chan *changelogs.ChangeLogEntry, 100)}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", c.socket)
	Expect(err).NotTo(HaveOccurred())
	s := grpc.NewServer()
	changelogs.RegisterChangeLogServiceServer(s, c)
	go func() { _ = s.Serve(l) }()
	DeferCleanup(s.Stop)
	return c
}

// end terminates the provider as Kubernetes does. It must exit with 0.
func (f *freshPlane) end(ctx context.Context, p *process.Process) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, Termination)
	defer cancel()
	Expect(p.Terminate(ctx)).To(Succeed())
	Expect(p.State().ExitCode()).To(BeZero())
}
