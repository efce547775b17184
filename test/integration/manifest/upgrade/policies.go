// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Management policies", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	setPolicies := func(p ...xpv2.ManagementAction) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = p }
	}

	It("with only Observe install nothing", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve)(m)
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(Synced(), NotReady("plan only, nothing is applied: 4 to create")))
		Consistently(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())

		By("installing it once they allow that")
		s.Update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.AwaitReady(ctx, "web")
	})

	It("with only Observe report drift and repair nothing", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		s.Update(ctx, "web", setPolicies(xpv2.ManagementActionObserve))
		s.AwaitReady(ctx, "web")
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			Synced(), NotReady("ConfigMap "+s.Name+"/web-settings was changed"), HaveState(v1alpha1.StateProcessing)))
		Consistently(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(HaveData("message", "changed"))

		s.Update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.AwaitMessage(ctx, "web-settings", "hello")
	})

	It("without Delete leave all objects, which a Manifest with the same name adopts", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize)(m)
		again := m.DeepCopy()
		s.Install(ctx, m)
		settings := s.MustConfigMap(ctx, "web-settings")
		s.Remove(ctx, "web")
		Consistently(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(HaveField("DeletionTimestamp", BeNil()))
		s.MustDeployment(ctx, "web")

		setPolicies(xpv2.ManagementActionAll)(again)
		s.Install(ctx, again)
		Expect(s.MustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(settings.ResourceVersion))
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("have no effect while a Manifest is paused", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Annotations["crossplane.io/paused"] = "true"
			SetValues(Values{"message": "later"})(m)
		})
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.Conditions",
			ContainElement(SatisfyAll(HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused)))))
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Consistently(s.ConfigMap).WithContext(ctx).WithArguments("web-settings").Should(HaveData("message", "changed"))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { delete(m.Annotations, "crossplane.io/paused") })
		s.AwaitMessage(ctx, "web-settings", "later")
		s.AwaitReady(ctx, "web")
	})
})
