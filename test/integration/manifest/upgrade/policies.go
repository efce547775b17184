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

	It("without Update complete a first install in several steps, and change nothing afterwards", func(ctx SpecContext) {
		m := s.Module(ctx, "web")
		m.Spec.ForProvider.Installs = append(m.Spec.ForProvider.Installs, s.InstallOf("hooked", hookedWeb().PushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)(m)
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(Synced(), NotReady("Widget "+s.Name+"/main")))
		s.MustConfigMap(ctx, "after")
		s.SetStatus(ctx, "main", `{"state":"Ready"}`)
		s.AwaitReady(ctx, "web")
		settings := s.MustConfigMap(ctx, "hooked-settings")

		By("changing the values, and an object")
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[1].Values = Raw(Values{"message": "changed"}) })
		Edit(ctx, settings, `{"data":{"level":"changed"}}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(Synced(), Not(BeReady())))
		Consistently(s.ConfigMap).WithContext(ctx).WithArguments("hooked-settings").Should(SatisfyAll(HaveData("message", "hello"), HaveData("level", "changed")))

		s.Update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.AwaitMessage(ctx, "hooked-settings", "changed")
		s.AwaitReady(ctx, "web")
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(HaveExactElements("ConfigMap "+s.Name+"/after", "Job "+s.Name+"/before"), "Helm keeps hooks, too")
	})

	It("without Create install nothing, and the status contains the reason", func(ctx SpecContext) {
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)(m)
		s.Create(ctx, m)
		const reason = "not installed, because spec.managementPolicies does not contain Create"
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(Synced(), NotReady(reason), HaveState(v1alpha1.StateProcessing, reason)))
		Consistently(s.Leftovers).WithContext(ctx).WithArguments(Env.Target).Should(BeEmpty())

		By("installing it once they allow that")
		s.Update(ctx, "web", setPolicies(xpv2.ManagementActionAll))
		s.AwaitReady(ctx, "web")
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})

// hookedWeb returns WebChart with a hook that takes a moment, and a hook that runs at the end.
func hookedWeb() Chart {
	return WebChart().With("templates/before.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {name: before, annotations: {"helm.sh/hook": pre-install}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: example.org/hook}]}
`).With("templates/after.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: after, annotations: {"helm.sh/hook": post-install}}
`)
}
