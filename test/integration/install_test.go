// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os/exec"
	"strings"

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
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("says what became of it in the status", func(ctx SpecContext) {
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"replicas": 2}))
		m.Labels = map[string]string{"operator.kyma-project.io/module-name": "web", "operator.kyma-project.io/channel": "fast", "mine": "x"}
		m = s.install(ctx, m)

		By("being available when it says Ready")
		d := s.mustDeployment(ctx, "web")
		Expect(d.Status.AvailableReplicas).To(BeEquivalentTo(2))

		By("counting and naming what it installed")
		at := m.Status.AtProvider
		Expect(at.Message).To(BeEmpty())
		Expect(at.Version).To(Equal("1.0.0"))
		Expect(at.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "web", State: v1alpha1.StateReady, Version: "1.0.0"}))
		Expect(at.Resources).To(gstruct.PointTo(Equal(v1alpha1.ResourceCounts{Ready: 4, Total: 4})))
		Expect(m.Annotations).To(HaveKeyWithValue("crossplane.io/external-name", s.name+".web"))

		By("handing the labels of modules on")
		Expect(d.Labels).To(SatisfyAll(
			HaveKeyWithValue("operator.kyma-project.io/module-name", "web"),
			HaveKeyWithValue("operator.kyma-project.io/channel", "fast"),
			Not(HaveKey("mine"))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(ContainSubstring("Installed web 1.0.0")))
	})

	It("keeps an inventory in the target, as KEP-3659 specifies it", func(ctx SpecContext) {
		m := s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		parent, err := fetched(ctx, client.ObjectKey{Namespace: inventoryNamespace, Name: s.name + ".web"}, &corev1.Secret{})
		Expect(err).NotTo(HaveOccurred())
		id := parent.Labels[labelSetID]
		Expect(id).To(MatchRegexp(`^applyset-[A-Za-z0-9_-]{43}-v1$`))
		Expect(parent.Labels).To(HaveKeyWithValue(labelManagedBy, managedBy))
		Expect(parent.Annotations).To(SatisfyAll(
			HaveKeyWithValue("applyset.kubernetes.io/tooling", "provider-kyma/v1"),
			HaveKeyWithValue("applyset.kubernetes.io/contains-group-kinds", "ConfigMap,Deployment.apps,Service,ServiceAccount"),
			HaveKeyWithValue("applyset.kubernetes.io/additional-namespaces", s.name),
			HaveKeyWithValue("kyma.m.crossplane.io/owner", "Manifest "+s.name+"/"+m.Name)))

		By("labelling each member")
		for _, o := range []client.Object{
			s.mustConfigMap(ctx, "web-settings"), s.mustDeployment(ctx, "web"), must(fetched(ctx, s.key("web"), &corev1.Service{})),
			must(fetched(ctx, s.key("web"), &corev1.ServiceAccount{})),
		} {
			Expect(o.GetLabels()).To(SatisfyAll(HaveKeyWithValue(labelPartOf, id), HaveKeyWithValue(labelManagedBy, managedBy)))
		}
	})

	It("shows READY, SYNCED, STATE, VERSION and AGE in kubectl get", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		kubectl, err := tools.Path(ctx, tools.Kubectl)
		Expect(err).NotTo(HaveOccurred())
		for _, category := range []string{"manifests", "modules", "managed"} {
			out, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", env.control.KubeconfigFile(), "--namespace", s.name, "get", category).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(string(out)).To(MatchRegexp(`NAME +READY +SYNCED +STATE +VERSION +AGE\n`), category)
			Expect(string(out)).To(MatchRegexp(`web +True +True +Ready +1\.0\.0 +\d+s`), category)
		}
	})

	It("applies the others when one of several installs fails", func(ctx SpecContext) {
		broken := newChart("broken", "0.1.0").with("templates/broken.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: broken
data:
  message: {{ required "message is required" .Values.message }}
`)
		s.create(ctx, s.manifest("three",
			s.installOf("first", webChart().pushLayer(ctx), nil),
			s.installOf("second", broken.pushLayer(ctx), nil),
			s.installOf("third", webChart().pushLayer(ctx), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("three").Should(SatisfyAll(
			notReady("second", "templates/broken.yaml:7", "message is required"),
			notSynced("second", "message is required"),
			haveState(v1alpha1.StateError, "second", "message is required"),
			haveInstall("first", v1alpha1.StateReady),
			haveInstall("second", v1alpha1.StateError, "message is required"),
			haveInstall("third", v1alpha1.StateReady)))
		s.mustDeployment(ctx, "first")
		s.mustDeployment(ctx, "third")

		By("continuing once the value is there")
		s.update(ctx, "three", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[1].Values = raw(values{"message": "here"}) })
		s.awaitReady(ctx, "three")
		Expect(s.mustConfigMap(ctx, "broken")).To(haveData("message", "here"))
	})
})

var _ = Describe("A source", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	DescribeTable("is installed", func(ctx SpecContext, source func(ctx SpecContext) v1alpha1.Source, version string) {
		m := s.install(ctx, s.manifest("web", s.installOf("web", source(ctx), nil)))
		Expect(m.Status.AtProvider.Version).To(Equal(version))
		Expect(s.mustDeployment(ctx, "web").Status.AvailableReplicas).To(BeEquivalentTo(1))
	},
		Entry("oci-ref with the digest of a layer", func(ctx SpecContext) v1alpha1.Source {
			return webChart().pushLayer(ctx)
		}, "1.0.0"),
		Entry("oci-ref with the digest of a layer that has the chart one directory down", func(ctx SpecContext) v1alpha1.Source {
			archive := must(webChart().files.Archive("web"))
			p := must(env.registry.PushBlob(ctx, "component-descriptors/example.org/module/nested", archive))
			return ociRef(p.Repository, p.Layer)
		}, "1.0.0"),
		Entry("oci-ref with the digest of a manifest of Helm", func(ctx SpecContext) v1alpha1.Source {
			p := webChart().push(ctx)
			return ociRef(p.Repository, p.Manifest)
		}, "1.0.0"),
		Entry("helm-chart from oci:// by version", func(ctx SpecContext) v1alpha1.Source {
			return helmChart(env.charts(), "web", webChart2().push(ctx).Tag)
		}, "2.0.0"),
		Entry("helm-chart from oci:// by a version with a +", func(ctx SpecContext) v1alpha1.Source {
			webChart().version("1.0.0+build.5").push(ctx)
			return helmChart(env.charts(), "web", "1.0.0+build.5")
		}, "1.0.0+build.5"),
		Entry("helm-chart from oci:// by digest", func(ctx SpecContext) v1alpha1.Source {
			return helmChart(env.charts(), "web", webChart2().push(ctx).Manifest)
		}, "2.0.0"),
	)

	DescribeTable("of a chart repository is installed", func(ctx SpecContext, version, want string) {
		charts, err := controlplane.StartChartRepository(controlplane.WebOptions{},
			webChart().files, webChart().version("1.4.0").files, webChart2().files, webChart2().version("3.0.0-rc.1").files)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(charts.Stop)
		s.config(ctx, "with-repository", env.target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) {
			spec.Registries = []v1alpha1.Registry{{Host: charts.Host(), PlainHTTP: true}}
		})
		m := s.manifest("web", s.installOf("web", helmChart(charts.URL(), "web", version), nil))
		m.Spec.ProviderConfigReference.Name = "with-repository"
		Expect(s.install(ctx, m).Status.AtProvider.Version).To(Equal(want))
		Expect(strings.Count(paths(charts.Requests()), "/index.yaml")).To(BeNumerically("<=", 2), "the index was read again and again")
	},
		Entry("by version", "1.0.0", "1.0.0"),
		Entry("by a range of versions", "^1.0.0", "1.4.0"),
		Entry("without a version, which is the latest that is not a pre-release", "", "2.0.0"),
	)
})

// paths of requests, one a line.
func paths(requests []controlplane.Request) string {
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.Path)
	}
	return strings.Join(lines, "\n")
}
