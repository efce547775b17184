// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// controlPlaneConfig is the ClusterProviderConfig that modules for the control plane are installed with, by default.
const controlPlaneConfig = "control-plane"

var _ = Describe("The channel of a Kyma's module", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer("mod")
	})

	DescribeTable("is", func(ctx SpecContext, kyma, module, want, version string) {
		m.release(ctx, "regular", "1.0.0")
		m.release(ctx, "fast", "1.1.0")
		m.release(ctx, "weekly", "1.2.0")
		k := s.enable(ctx, inChannel(s.kyma("kyma", m.inChannel(module)), kyma))
		Expect(k).To(haveVersion(m.name, version, want))
		Expect(must(m.installed(ctx))).To(haveData("version", version))
		Expect(must(s.get(ctx, m.manifest("kyma"))).Labels).To(HaveKeyWithValue(v1alpha1.LabelChannel, want))
	},
		Entry("regular by default", "", "", "regular", "1.0.0"),
		Entry("that of the Kyma", "fast", "", "fast", "1.1.0"),
		Entry("its own before that of the Kyma", "fast", "weekly", "weekly", "1.2.0"),
	)

	It("is never another than the one that was asked for", func(ctx SpecContext) {
		m.release(ctx, "regular", "1.0.0")
		s.create(ctx, inChannel(s.kyma("kyma", m.module()), "fast"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateError, `"fast"`, "regular"))
		Consistently(s.manifests).WithContext(ctx).Should(BeEmpty())
		m.release(ctx, "fast", "0.9.0")
		Expect(s.awaitKyma(ctx, "kyma")).To(haveVersion(m.name, "0.9.0", "fast"))
	})

	It("changes the version upwards, and downwards only where that is meant", func(ctx SpecContext) {
		m.release(ctx, "regular", "1.0.0")
		m.release(ctx, "fast", "1.1.0")
		s.enable(ctx, s.kyma("kyma", m.module()))
		before := must(s.get(ctx, m.manifest("kyma")))

		s.updateKyma(ctx, "kyma", setChannel("fast"))
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(before.Name).Should(HaveField("Spec.ForProvider.Version", "1.1.0"))
		m.awaitVersion(ctx, "1.1.0")
		k := s.awaitKyma(ctx, "kyma")
		Expect(k).To(haveVersion(m.name, "1.1.0", "fast"))
		Expect(k.Status.AtProvider.ActiveChannel).To(Equal("fast"))
		Expect(must(s.get(ctx, before.Name)).UID).To(Equal(before.UID))
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(beEvent("Normal ModuleUpgraded", m.name, "1.0.0", "1.1.0")))

		By("leaving it where it would be lowered, and saying how to force it")
		force := v1alpha1.AnnotationAllowDowngrade + "=" + m.name + "@1.0.0"
		s.updateKyma(ctx, "kyma", setChannel("regular"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			haveModule(m.name, v1alpha1.StateWarning, "1.1.0", "1.0.0", force), haveKymaState(v1alpha1.StateWarning, m.name, force),
			readyBecause(v1alpha1.ReasonDowngradeBlocked),
			haveVersion(m.name, "1.1.0", "fast"), HaveField("Status.AtProvider.ActiveChannel", "fast")))
		Consistently(m.installed).WithContext(ctx).Should(haveData("version", "1.1.0"))
		Eventually(s.kymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(beEvent("Warning DowngradeBlocked", force)))

		By("not forcing it for another version, or another module")
		s.annotateKyma(ctx, "kyma", v1alpha1.AnnotationAllowDowngrade, m.name+"@0.9.0,other@1.0.0")
		Consistently(m.installed).WithContext(ctx).Should(haveData("version", "1.1.0"))

		By("forcing it where it is named")
		s.annotateKyma(ctx, "kyma", v1alpha1.AnnotationAllowDowngrade, "other@2.0.0,"+m.name+"@1.0.0")
		m.awaitVersion(ctx, "1.0.0")
		Expect(s.awaitKyma(ctx, "kyma")).To(haveVersion(m.name, "1.0.0", "regular"))
	})

	It("that was left behind is followed again when it has caught up", func(ctx SpecContext) {
		m.release(ctx, "regular", "1.0.0")
		m.release(ctx, "fast", "1.1.0")
		s.enable(ctx, inChannel(s.kyma("kyma", m.module()), "fast"))
		s.updateKyma(ctx, "kyma", setChannel("regular"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateWarning))

		By("reading what runs from the Manifest, not from the status")
		wipe(ctx, must(s.getKyma(ctx, "kyma")))
		s.annotateKyma(ctx, "kyma", "crossplane.io/reconcile-requested-at", "now")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveModule(m.name, v1alpha1.StateWarning, "1.1.0"))
		Expect(must(m.installed(ctx))).To(haveData("version", "1.1.0"))

		m.release(ctx, "regular", "1.2.0")
		m.awaitVersion(ctx, "1.2.0")
		Expect(s.awaitKyma(ctx, "kyma")).To(haveVersion(m.name, "1.2.0", "regular"))
	})

	It("brings a new version to all who follow it, and to no one else", func(ctx SpecContext) {
		other := s.offer("other")
		m.release(ctx, "regular", "1.0.0")
		m.release(ctx, "fast", "1.1.0")
		other.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma("kyma", m.module(), other.module()))
		unchanged := must(s.get(ctx, other.manifest("kyma")))

		m.release(ctx, "regular", "1.0.5")
		Eventually(s.get).WithContext(ctx).WithTimeout(prompt).WithArguments(m.manifest("kyma")).Should(HaveField("Spec.ForProvider.Version", "1.0.5"))
		m.awaitVersion(ctx, "1.0.5")
		s.awaitKyma(ctx, "kyma")

		By("leaving a Kyma alone whose channel did not change")
		m.release(ctx, "fast", "1.1.1")
		m.awaitResolved(ctx, m.templateName("fast"), "1.1.1")
		Consistently(m.installed).WithContext(ctx).Should(haveData("version", "1.0.5"))
		Expect(must(s.get(ctx, other.manifest("kyma"))).Generation).To(Equal(unchanged.Generation))
	})

	It("whose template has other data or readiness rules changes the module", func(ctx SpecContext) {
		m := s.operated("operated")
		name := m.release(ctx, "regular", "1.0.0").Name
		s.create(ctx, s.kyma("kyma", m.module()))
		Eventually(m.widget).WithContext(ctx).ShouldNot(BeNil())
		updateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.spec.size == "small"`}}
		})
		s.awaitKyma(ctx, "kyma")
	})
})

var _ = Describe("The target of a Kyma's module", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// central makes the ClusterProviderConfig for modules of the control plane, which goes last.
	central := func(ctx SpecContext) {
		s.secret(ctx, controlPlaneConfig, corev1.SecretTypeOpaque, map[string][]byte{kubeconfigKey: env.control.Kubeconfig()})
		pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: controlPlaneConfig}, Spec: v1alpha1.ProviderConfigSpec{
			Credentials: v1alpha1.Credentials{
				Source: v1alpha1.CredentialsSourceSecret,
				CredentialSelectors: v1alpha1.CredentialSelectors{
					SecretRef: &v1alpha1.SecretKeySelector{Namespace: s.name, Name: controlPlaneConfig, Key: kubeconfigKey},
				},
			},
			Registries: registries(),
		}}
		s.create(ctx, pc)
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, pc))).To(Succeed())
		})
	}

	DescribeTable("is", func(ctx SpecContext, target v1alpha1.ModuleTarget, want xpv2.ProviderConfigReference, there, elsewhere func() *controlplane.Cluster) {
		central(ctx)
		m := s.offer("mod")
		c := m.component("1.0.0")
		push(ctx, c)
		t := m.template("regular", c)
		t.Spec.Target = target
		s.create(ctx, t)
		s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(must(s.get(ctx, m.manifest("kyma"))).Spec.ProviderConfigReference).To(HaveValue(Equal(want)))
		in := func(ctx context.Context, c *controlplane.Cluster) error {
			return must(newClient(c)).Get(ctx, s.key(m.name), &corev1.ConfigMap{})
		}
		Expect(in(ctx, there())).To(Succeed())
		Expect(in(ctx, elsewhere())).To(beNotFound())
		s.removeKyma(ctx, "kyma")
		Expect(in(ctx, there())).To(beNotFound())
	},
		Entry("that of the Kyma", v1alpha1.ModuleTargetRemote, xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: configName},
			func() *controlplane.Cluster { return env.target }, func() *controlplane.Cluster { return env.control }),
		Entry("the control plane", v1alpha1.ModuleTargetControlPlane,
			xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: controlPlaneConfig},
			func() *controlplane.Cluster { return env.control }, func() *controlplane.Cluster { return env.target }),
	)

	It("changes with the template: the module is removed where it was", func(ctx SpecContext) {
		central(ctx)
		m := s.offer("mod")
		name := m.release(ctx, "regular", "1.0.0").Name
		s.enable(ctx, s.kyma("kyma", m.module()))
		updateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Target = v1alpha1.ModuleTargetControlPlane })
		Eventually(m.absent).WithContext(ctx).Should(BeTrue())
		Eventually(func(ctx context.Context) error {
			return env.controlClient.Get(ctx, s.key(m.name), &corev1.ConfigMap{})
		}).WithContext(ctx).Should(Succeed())
		s.awaitKyma(ctx, "kyma")
		s.removeKyma(ctx, "kyma")
	})
})
