// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Policies", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	setPolicies := func(p ...xpv2.ManagementAction) func(m *v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = p }
	}

	It("that only observe install nothing", func(ctx SpecContext) {
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve)(m)
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(synced(), notReady("plan: 4 to create")))
		Consistently(gone(s.configMap)).WithContext(ctx).WithArguments("web-settings").Should(BeTrue())

		By("installing it once they allow that")
		s.update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.awaitReady(ctx, "web")
	})

	It("that only observe see drift and repair nothing", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		s.update(ctx, "web", setPolicies(xpv2.ManagementActionObserve))
		s.awaitReady(ctx, "web")
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			synced(), notReady("ConfigMap "+s.name+"/web-settings was changed"), haveState(v1alpha1.StateProcessing)))
		Consistently(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(haveData("message", "changed"))

		s.update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.awaitMessage(ctx, "web-settings", "hello")
	})

	It("without Delete leave everything, for a Manifest of the same name to find", func(ctx SpecContext) {
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize)(m)
		again := m.DeepCopy()
		s.install(ctx, m)
		settings := s.mustConfigMap(ctx, "web-settings")
		s.remove(ctx, "web")
		Consistently(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(HaveField("DeletionTimestamp", BeNil()))
		s.mustDeployment(ctx, "web")

		setPolicies(xpv2.ManagementActionAll)(again)
		s.install(ctx, again)
		Expect(s.mustConfigMap(ctx, "web-settings").ResourceVersion).To(Equal(settings.ResourceVersion))
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("do not matter while a Manifest is paused: nothing is done", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		s.update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Annotations["crossplane.io/paused"] = "true"
			setValues(values{"message": "later"})(m)
		})
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.Conditions",
			ContainElement(SatisfyAll(HaveField("Type", xpv2.TypeSynced), HaveField("Reason", xpv2.ReasonReconcilePaused)))))
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		Consistently(s.configMap).WithContext(ctx).WithArguments("web-settings").Should(haveData("message", "changed"))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) { delete(m.Annotations, "crossplane.io/paused") })
		s.awaitMessage(ctx, "web-settings", "later")
		s.awaitReady(ctx, "web")
	})
})
