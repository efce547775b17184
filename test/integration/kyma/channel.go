// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// controlPlaneConfig is the ClusterProviderConfig that modules for the control plane use by default.
const controlPlaneConfig = "control-plane"

var _ = Describe("The channel of a module", func() {
	var (
		s *Space
		m *Offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
	})

	DescribeTable("is", func(ctx SpecContext, kyma, module, want, version string) {
		m.Release(ctx, "regular", "1.0.0")
		m.Release(ctx, "fast", "1.1.0")
		m.Release(ctx, "weekly", "1.2.0")
		k := s.Enable(ctx, InChannel(s.Kyma("kyma", m.InChannel(module)), kyma))
		Expect(k).To(HaveVersion(m.Name, version, want))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", version))
		Expect(Must(s.Get(ctx, m.Manifest("kyma"))).Labels).To(HaveKeyWithValue(v1alpha1.LabelChannel, want))
	},
		Entry("regular by default", "", "", "regular", "1.0.0"),
		Entry("the channel of the Kyma", "fast", "", "fast", "1.1.0"),
		Entry("its own channel instead of that of the Kyma", "fast", "weekly", "weekly", "1.2.0"),
	)

	It("is never replaced by another one", func(ctx SpecContext) {
		m.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, InChannel(s.Kyma("kyma", m.Module()), "fast"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateError, `"fast"`, "regular"))
		Consistently(s.Manifests).WithContext(ctx).Should(BeEmpty())
		m.Release(ctx, "fast", "0.9.0")
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveVersion(m.Name, "0.9.0", "fast"))
	})

	It("upgrades the module, and downgrades it only on request", func(ctx SpecContext) {
		m.Release(ctx, "regular", "1.0.0")
		m.Release(ctx, "fast", "1.1.0")
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		before := Must(s.Get(ctx, m.Manifest("kyma")))

		s.UpdateKyma(ctx, "kyma", SetChannel("fast"))
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(before.Name).Should(HaveField("Spec.ForProvider.Version", "1.1.0"))
		m.AwaitVersion(ctx, "1.1.0")
		k := s.AwaitKyma(ctx, "kyma")
		Expect(k).To(HaveVersion(m.Name, "1.1.0", "fast"))
		Expect(k.Status.AtProvider.ActiveChannel).To(Equal("fast"))
		Expect(Must(s.Get(ctx, before.Name)).UID).To(Equal(before.UID))
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(BeEvent("Normal ModuleUpgraded", m.Name, "1.0.0", "1.1.0")))

		By("reporting a refused downgrade, and how to force it")
		force := v1alpha1.AnnotationAllowDowngrade + "=" + m.Name + "@1.0.0"
		s.UpdateKyma(ctx, "kyma", SetChannel("regular"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(
			HaveModule(m.Name, v1alpha1.StateWarning, "1.1.0", "1.0.0", force), HaveKymaState(v1alpha1.StateWarning, m.Name, force),
			ReadyBecause(v1alpha1.ReasonDowngradeBlocked),
			HaveVersion(m.Name, "1.1.0", "fast"), HaveField("Status.AtProvider.ActiveChannel", "fast")))
		Consistently(m.Installed).WithContext(ctx).Should(HaveData("version", "1.1.0"))
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(BeEvent("Warning DowngradeBlocked", force)))

		By("not forcing it for another version or module")
		s.AnnotateKyma(ctx, "kyma", v1alpha1.AnnotationAllowDowngrade, m.Name+"@0.9.0,other@1.0.0")
		Consistently(m.Installed).WithContext(ctx).Should(HaveData("version", "1.1.0"))

		By("forcing the downgrade of the named version")
		s.AnnotateKyma(ctx, "kyma", v1alpha1.AnnotationAllowDowngrade, "other@2.0.0,"+m.Name+"@1.0.0")
		m.AwaitVersion(ctx, "1.0.0")
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveVersion(m.Name, "1.0.0", "regular"))
	})

	It("that was not followed because of a downgrade is followed again once its version is higher", func(ctx SpecContext) {
		m.Release(ctx, "regular", "1.0.0")
		m.Release(ctx, "fast", "1.1.0")
		s.Enable(ctx, InChannel(s.Kyma("kyma", m.Module()), "fast"))
		s.UpdateKyma(ctx, "kyma", SetChannel("regular"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateWarning))

		By("reading the installed version from the Manifest, not from the status")
		Wipe(ctx, Must(s.GetKyma(ctx, "kyma")))
		s.AnnotateKyma(ctx, "kyma", "crossplane.io/reconcile-requested-at", "now")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateWarning, "1.1.0"))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.1.0"))

		m.Release(ctx, "regular", "1.2.0")
		m.AwaitVersion(ctx, "1.2.0")
		Expect(s.AwaitKyma(ctx, "kyma")).To(HaveVersion(m.Name, "1.2.0", "regular"))
	})

	It("upgrades all Kymas that follow it, and no others", func(ctx SpecContext) {
		other := NewOffer(s, "other")
		m.Release(ctx, "regular", "1.0.0")
		m.Release(ctx, "fast", "1.1.0")
		other.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma("kyma", m.Module(), other.Module()))
		unchanged := Must(s.Get(ctx, other.Manifest("kyma")))

		m.Release(ctx, "regular", "1.0.5")
		Eventually(s.Get).WithContext(ctx).WithTimeout(Prompt).WithArguments(m.Manifest("kyma")).Should(HaveField("Spec.ForProvider.Version", "1.0.5"))
		m.AwaitVersion(ctx, "1.0.5")
		s.AwaitKyma(ctx, "kyma")

		By("not changing a Kyma with another channel")
		m.Release(ctx, "fast", "1.1.1")
		m.AwaitResolved(ctx, m.TemplateName("fast"), "1.1.1")
		Consistently(m.Installed).WithContext(ctx).Should(HaveData("version", "1.0.5"))
		Expect(Must(s.Get(ctx, other.Manifest("kyma"))).Generation).To(Equal(unchanged.Generation))
	})

	It("updates the module if its template changes data or readiness rules", func(ctx SpecContext) {
		m := OfferOperated(s, "operated")
		name := m.Release(ctx, "regular", "1.0.0").Name
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		Eventually(m.Widget).WithContext(ctx).ShouldNot(BeNil())
		UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) {
			t.Spec.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.spec.size == "small"`}}
		})
		s.AwaitKyma(ctx, "kyma")
	})
})

var _ = Describe("The target cluster of a module", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// central creates the ClusterProviderConfig for modules of the control plane. It is deleted after everything else.
	central := func(ctx SpecContext) {
		s.Secret(ctx, controlPlaneConfig, corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: Env.Control.Kubeconfig()})
		pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: controlPlaneConfig}, Spec: v1alpha1.ClusterProviderConfigSpec{
			ProviderConfigSpec: v1alpha1.ProviderConfigSpec{
				Credentials: v1alpha1.Credentials{
					Source: v1alpha1.CredentialsSourceSecret,
					CredentialSelectors: v1alpha1.CredentialSelectors{
						SecretRef: &v1alpha1.SecretKeySelector{Namespace: s.Name, Name: controlPlaneConfig, Key: KubeconfigKey},
					},
				},
				Registries: Registries(),
			},
			AllowedNamespaces: &v1alpha1.AllowedNamespaces{Names: []string{s.Name}},
		}}
		s.Create(ctx, pc)
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, pc))).To(Succeed())
			if CurrentSpecReport().Failed() {
				return
			}
			// The next spec reuses the name.
			Eventually(func() error { return Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(pc), pc) }).WithContext(ctx).Should(BeNotFound())
		})
	}

	DescribeTable("is", func(ctx SpecContext, target v1alpha1.ModuleTarget, want xpv2.ProviderConfigReference, there, elsewhere func() *controlplane.Cluster) {
		central(ctx)
		m := NewOffer(s, "mod")
		c := m.Component("1.0.0")
		Push(ctx, c)
		t := m.Template("regular", c)
		t.Spec.Target = target
		s.Create(ctx, t)
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		Expect(Must(s.Get(ctx, m.Manifest("kyma"))).Spec.ProviderConfigReference).To(HaveValue(Equal(want)))
		in := func(ctx context.Context, c *controlplane.Cluster) error {
			return Must(NewClient(c)).Get(ctx, s.Key(m.Name), &corev1.ConfigMap{})
		}
		Expect(in(ctx, there())).To(Succeed())
		Expect(in(ctx, elsewhere())).To(BeNotFound())
		s.RemoveKyma(ctx, "kyma")
		Expect(in(ctx, there())).To(BeNotFound())
	},
		Entry("the target cluster of the Kyma", v1alpha1.ModuleTargetRemote, xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: ConfigName},
			func() *controlplane.Cluster { return Env.Target }, func() *controlplane.Cluster { return Env.Control }),
		Entry("the control plane", v1alpha1.ModuleTargetControlPlane,
			xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: controlPlaneConfig},
			func() *controlplane.Cluster { return Env.Control }, func() *controlplane.Cluster { return Env.Target }),
	)

	It("changes with the template, and the module is removed from the old cluster", func(ctx SpecContext) {
		central(ctx)
		m := NewOffer(s, "mod")
		name := m.Release(ctx, "regular", "1.0.0").Name
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		UpdateTemplate(ctx, name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Target = v1alpha1.ModuleTargetControlPlane })
		Eventually(m.Absent).WithContext(ctx).Should(BeTrue())
		Eventually(func(ctx context.Context) error {
			return Env.ControlClient.Get(ctx, s.Key(m.Name), &corev1.ConfigMap{})
		}).WithContext(ctx).Should(Succeed())
		s.AwaitKyma(ctx, "kyma")
		s.RemoveKyma(ctx, "kyma")
	})
})
