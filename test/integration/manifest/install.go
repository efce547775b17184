// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"os/exec"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Installing a chart", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("reports the result in the status", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"replicas": 2}))
		m.Labels = map[string]string{"operator.kyma-project.io/module-name": "web", "operator.kyma-project.io/channel": "fast", "mine": "x"}
		m = s.Install(ctx, m)

		By("checking that it is available when it is Ready")
		d := s.MustDeployment(ctx, "web")
		Expect(d.Status.AvailableReplicas).To(BeEquivalentTo(2))

		By("checking the counts and names in the status")
		at := m.Status.AtProvider
		Expect(at.Message).To(BeEmpty())
		Expect(at.Version).To(Equal("1.0.0"))
		Expect(at.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "web", State: v1alpha1.StateReady, Version: "1.0.0"}))
		Expect(at.Resources).To(gstruct.PointTo(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))
		Expect(m.Annotations).To(HaveKeyWithValue("crossplane.io/external-name", s.Name+".web"))

		By("checking the labels of modules")
		Expect(d.Labels).To(SatisfyAll(
			HaveKeyWithValue("operator.kyma-project.io/module-name", "web"),
			HaveKeyWithValue("operator.kyma-project.io/channel", "fast"),
			Not(HaveKey("mine"))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(ContainSubstring("Installed web 1.0.0")))
	})

	It("stores an inventory in the target cluster, as specified by KEP-3659", func(ctx SpecContext) {
		m := s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		parent, err := Fetched(ctx, client.ObjectKey{Namespace: InventoryNamespace, Name: s.Name + ".web"}, &corev1.Secret{})
		Expect(err).NotTo(HaveOccurred())
		id := parent.Labels[LabelSetID]
		Expect(id).To(MatchRegexp(`^applyset-[A-Za-z0-9_-]{43}-v1$`))
		Expect(parent.Labels).To(HaveKeyWithValue(LabelManagedBy, ManagedBy))
		Expect(parent.Annotations).To(SatisfyAll(
			HaveKeyWithValue("applyset.kubernetes.io/tooling", "provider-kyma/v1"),
			HaveKeyWithValue("applyset.kubernetes.io/contains-group-kinds", "ConfigMap,Deployment.apps,Service,ServiceAccount"),
			HaveKeyWithValue("applyset.kubernetes.io/additional-namespaces", s.Name),
			HaveKeyWithValue("kyma.m.crossplane.io/owner", "Manifest "+s.Name+"/"+m.Name)))

		By("checking the label of each member")
		for _, o := range []client.Object{
			s.MustConfigMap(ctx, "web-settings"), s.MustDeployment(ctx, "web"), Must(Fetched(ctx, s.Key("web"), &corev1.Service{})),
			Must(Fetched(ctx, s.Key("web"), &corev1.ServiceAccount{})),
		} {
			Expect(o.GetLabels()).To(SatisfyAll(HaveKeyWithValue(LabelPartOf, id), HaveKeyWithValue(LabelManagedBy, ManagedBy)))
		}
	})

	It("shows READY, SYNCED, STATE, VERSION and AGE in kubectl get", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		kubectl, err := tools.Path(ctx, tools.Kubectl)
		Expect(err).NotTo(HaveOccurred())
		for _, category := range []string{"manifests", "modules", "managed"} {
			out, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", Env.Control.KubeconfigFile(), "--namespace", s.Name, "get", category).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(string(out)).To(MatchRegexp(`NAME +READY +SYNCED +STATE +VERSION +AGE\n`), category)
			Expect(string(out)).To(MatchRegexp(`web +True +True +Ready +1\.0\.0 +\d+s`), category)
		}
	})

	It("applies the other installs if one of several fails", func(ctx SpecContext) {
		broken := NewChart("broken", "0.1.0").With("templates/broken.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: broken
data:
  message: {{ required "message is required" .Values.message }}
`)
		s.Create(ctx, s.Manifest("three",
			s.InstallOf("first", WebChart().PushLayer(ctx), nil),
			s.InstallOf("second", broken.PushLayer(ctx), nil),
			s.InstallOf("third", WebChart().PushLayer(ctx), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("three").Should(SatisfyAll(
			NotReady("second", "templates/broken.yaml:7", "message is required"),
			NotSynced("second", "message is required"),
			HaveState(v1alpha1.StateError, "second", "message is required"),
			HaveInstall("first", v1alpha1.StateReady),
			HaveInstall("second", v1alpha1.StateError, "message is required"),
			HaveInstall("third", v1alpha1.StateReady)))
		s.MustDeployment(ctx, "first")
		s.MustDeployment(ctx, "third")

		By("continuing once the value exists")
		s.Update(ctx, "three", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[1].Values = Raw(Values{"message": "here"}) })
		s.AwaitReady(ctx, "three")
		Expect(s.MustConfigMap(ctx, "broken")).To(HaveData("message", "here"))
	})
})

var _ = Describe("A source", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is installed", func(ctx SpecContext, source func(ctx SpecContext) v1alpha1.Source, version string) {
		m := s.Install(ctx, s.Manifest("web", s.InstallOf("web", source(ctx), nil)))
		Expect(m.Status.AtProvider.Version).To(Equal(version))
		Expect(s.MustDeployment(ctx, "web").Status.AvailableReplicas).To(BeEquivalentTo(1))
	},
		Entry("oci-ref with the digest of a layer", func(ctx SpecContext) v1alpha1.Source {
			return WebChart().PushLayer(ctx)
		}, "1.0.0"),
		Entry("oci-ref with the digest of a layer that has the chart in a subdirectory", func(ctx SpecContext) v1alpha1.Source {
			archive := Must(WebChart().Files.Archive("web"))
			p := Must(Env.Registry.PushBlob(ctx, "component-descriptors/example.org/module/nested", archive))
			return OciRef(p.Repository, p.Layer)
		}, "1.0.0"),
		Entry("oci-ref with the digest of the manifest of a Helm chart", func(ctx SpecContext) v1alpha1.Source {
			p := WebChart().Push(ctx)
			return OciRef(p.Repository, p.Manifest)
		}, "1.0.0"),
		Entry("helm-chart from oci:// by version", func(ctx SpecContext) v1alpha1.Source {
			return HelmChart(Env.Charts(), "web", WebChart2().Push(ctx).Tag)
		}, "2.0.0"),
		Entry("helm-chart from oci:// by a version with build metadata", func(ctx SpecContext) v1alpha1.Source {
			WebChart().Version("1.0.0+build.5").Push(ctx)
			return HelmChart(Env.Charts(), "web", "1.0.0+build.5")
		}, "1.0.0+build.5"),
		Entry("helm-chart from oci:// by digest", func(ctx SpecContext) v1alpha1.Source {
			return HelmChart(Env.Charts(), "web", WebChart2().Push(ctx).Manifest)
		}, "2.0.0"),
	)

	DescribeTable("from a chart repository is installed", func(ctx SpecContext, version, want string) {
		charts, err := controlplane.StartChartRepository(controlplane.WebOptions{},
			WebChart().Files, WebChart().Version("1.4.0").Files, WebChart2().Files, WebChart2().Version("3.0.0-rc.1").Files)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(charts.Stop)
		s.Config(ctx, "with-repository", Env.Target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) {
			spec.Registries = []v1alpha1.Registry{{Host: charts.Host(), PlainHTTP: true}}
		})
		m := s.Manifest("web", s.InstallOf("web", HelmChart(charts.URL(), "web", version), nil))
		m.Spec.ProviderConfigReference.Name = "with-repository"
		Expect(s.Install(ctx, m).Status.AtProvider.Version).To(Equal(want))
		Expect(strings.Count(Paths(charts.Requests()), "/index.yaml")).To(BeNumerically("<=", 2), "the index was read again and again")
	},
		Entry("by version", "1.0.0", "1.0.0"),
		Entry("by a version range", "^1.0.0", "1.4.0"),
		Entry("without a version, which is the latest one except pre-releases", "", "2.0.0"),
	)
})
