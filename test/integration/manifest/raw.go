// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"path/filepath"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Plain objects", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("that are inline are installed, repaired, pruned and removed without a Helm release", func(ctx SpecContext) {
		m := s.Manifest("plain", s.InstallOf("all", s.Inline("one", "message: hello", "two", "message: hello"), nil))
		m = s.Install(ctx, m)
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "all", State: v1alpha1.StateReady}))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 2, Total: 2})))
		Expect(Helm(ctx, s, "list", "--all", "--short")).To(BeEmpty())
		Eventually(Events).WithContext(ctx).WithArguments(s, "plain").Should(ContainElement(ContainSubstring("Installed all")))

		By("repairing changed and deleted objects")
		Edit(ctx, s.MustConfigMap(ctx, "one"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "one", "hello")
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "two"))).To(Succeed())
		Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("two").Should(BeFalse())
		s.AwaitReady(ctx, "plain")

		By("pruning removed objects")
		before := s.MustConfigMap(ctx, "two").UID
		s.Update(ctx, "plain", SetSource(s.Inline("two", "message: bye", "three", "message: bye")))
		s.AwaitReady(ctx, "plain")
		Expect(Gone(s.ConfigMap)(ctx, "one")).To(BeTrue())
		Expect(s.MustConfigMap(ctx, "two")).To(SatisfyAll(HaveData("message", "bye"), HaveField("UID", before)))

		s.Remove(ctx, "plain")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("can be replaced by a chart with the same name, and back", func(ctx SpecContext) {
		plain := s.Inline("web-settings", "message: plain")
		s.Install(ctx, s.Manifest("turns", s.InstallOf("web", plain, nil)))
		uid := s.MustConfigMap(ctx, "web-settings").UID

		s.Update(ctx, "turns", SetSource(WebChart().PushLayer(ctx)))
		s.AwaitReady(ctx, "turns")
		Expect(s.MustConfigMap(ctx, "web-settings")).To(SatisfyAll(HaveData("message", "hello"), HaveField("UID", uid)))
		Expect(Helm(ctx, s, "list", "--short")).To(Equal("web\n"))

		s.Update(ctx, "turns", SetSource(plain))
		s.AwaitReady(ctx, "turns")
		Expect(s.MustConfigMap(ctx, "web-settings")).To(SatisfyAll(HaveData("message", "plain"), HaveField("UID", uid)))
		Expect(Gone(s.Deployment)(ctx, "web")).To(BeTrue())
		Expect(Helm(ctx, s, "list", "--all", "--short")).To(BeEmpty())
	})

	DescribeTable("of a real module are installed from a layer", func(ctx SpecContext, source func(ctx context.Context, data []byte) v1alpha1.Source) {
		data := templateOperator()
		m := s.Install(ctx, s.Manifest("module", s.InstallOf("template-operator", source(ctx, data), nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 14, Total: 14})))

		By("checking the operator and its custom resource")
		key := client.ObjectKey{Namespace: "template-operator-system", Name: "template-operator-controller-manager"}
		Expect(Must(Fetched(ctx, key, &appsv1.Deployment{})).Status.AvailableReplicas).To(BeEquivalentTo(1))
		managed := &unstructured.Unstructured{}
		managed.SetAPIVersion("operator.kyma-project.io/v1alpha1")
		managed.SetKind("Managed")
		key.Name = "template-operator-managed-resource"
		Expect(Fetched(ctx, key, managed)).To(HaveField("GetLabels()", HaveKeyWithValue(LabelManagedBy, ManagedBy)))

		s.Remove(ctx, "module")
		Expect(Env.TargetClient.Get(ctx, client.ObjectKey{Name: key.Namespace}, &corev1.Namespace{})).To(BeNotFound())
	},
		Entry("that is plain YAML", func(ctx context.Context, data []byte) v1alpha1.Source {
			return rawRef(Env.Registry.PushBlob(ctx, TestModule, data))
		}),
		Entry("that is a compressed tar", func(ctx context.Context, data []byte) v1alpha1.Source {
			return rawRef(Env.Registry.PushModule(ctx, TestModule, controlplane.Files{"template-operator.yaml": data, "README.md": []byte("no: {yaml")}))
		}),
		Entry("inline instead", func(_ context.Context, data []byte) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: string(data)}
		}),
	)
})

var _ = Describe("A config layer", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("sets values of the install that it names, with a precedence between the chart and the Manifest", func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		m := s.Manifest("pair", s.InstallOf("one", source, Values{"shared": "mine"}), s.InstallOf("two", source, nil))
		m.Spec.ForProvider.Config = ConfigLayer(ctx, fmt.Sprintf(`
configs:
- name: one
  clientConfig: "Namespace=%s-own,CreateNamespace=true,ReleaseName=named,Wait=true,Timeout=5m"
  overrides: "message=from-config,shared=config,replicas=2"
`, s.Name))
		m = s.Install(ctx, m)
		DeferCleanup(func(ctx SpecContext) {
			ns := &corev1.Namespace{}
			ns.Name = s.Name + "-own"
			Expect(client.IgnoreNotFound(Env.TargetClient.Delete(ctx, ns))).To(Succeed())
		})
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(
			v1alpha1.InstallStatus{Name: "one", State: v1alpha1.StateReady, Version: "1.0.0"},
			v1alpha1.InstallStatus{Name: "two", State: v1alpha1.StateReady, Version: "1.0.0"}))
		own := &Space{Name: s.Name + "-own"}
		Expect(own.MustConfigMap(ctx, "named-settings")).To(HaveData("message", "from-config"))
		Expect(own.MustConfigMap(ctx, "mine")).To(HaveData("owner", "named"))
		Expect(own.MustDeployment(ctx, "named").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(Helm(ctx, own, "list", "--short")).To(Equal("named\n"))
		Expect(s.MustConfigMap(ctx, "two-settings")).To(HaveData("message", "hello"))
		Expect(Helm(ctx, s, "list", "--short")).To(Equal("two\n"))

		By("repairing drift with the values of the config")
		Expect(Env.TargetClient.Delete(ctx, own.MustConfigMap(ctx, "mine"))).To(Succeed())
		Eventually(Gone(own.ConfigMap)).WithContext(ctx).WithArguments("mine").Should(BeFalse())

		By("applying another config")
		s.Update(ctx, "pair", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Config = ConfigLayer(ctx, "configs: [{name: two, overrides: message=changed}]")
		})
		s.AwaitReady(ctx, "pair")
		Expect(s.MustConfigMap(ctx, "two-settings")).To(HaveData("message", "changed"))
		Expect(s.MustConfigMap(ctx, "one-settings")).To(HaveData("message", "hello"))
		Expect(Helm(ctx, own, "list", "--all", "--short")).To(BeEmpty())
		Expect(own.Leftovers(ctx, Env.Target)).To(BeEmpty())

		s.Remove(ctx, "pair")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("can be empty", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		m.Spec.ForProvider.Config = ConfigLayer(ctx, "")
		s.Install(ctx, m)
	})
})

// rawRef returns the source of plain objects by the digest of a layer.
func rawRef(p controlplane.Pushed, err error) v1alpha1.Source {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	source := OciRef(p.Repository, p.Layer)
	source.Type = v1alpha1.SourceTypeRaw
	return source
}

// templateOperator returns the YAML of Kyma's module template-operator, which the demo uses.
func templateOperator() []byte {
	GinkgoHelper()
	root, err := tools.Root()
	Expect(err).NotTo(HaveOccurred())
	files, err := controlplane.ReadDir(filepath.Join(root, "cluster", "local", "modules", "template-operator"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(HaveKey("template-operator.yaml"))
	return files["template-operator.yaml"]
}
